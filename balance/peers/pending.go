package peers

import (
	"math/bits"

	"solarfs/balance"
)

// pending is what the nodes' buffers hold, by time of next use. A time is epoch*Steps + step; all that are in use lie within ring steps.
//
// Invariants: first[k*ring + time%ring] is the first link of a chain of what node k holds for that time, 0 if nothing; the bit of the same
// number in some tells the same. Link 0 is none. held[k] samples are in the chains of node k, none for later than farthest[k].
//
// Memory: 8 bytes per sample held, and 4 per node and step of the ring.
type pending struct {
	buffer, ring int
	first        []uint32
	some         []uint64
	links        []link
	free         uint32 // first of the links that are in no chain
	held         []int
	farthest     []int
}

type link struct{ sample, next uint32 }

// newPending is for empty buffers and for epochs epochs at a time.
func newPending(shape balance.Shape, epochs int) pending {
	ring := (shape.Steps*epochs + 63) / 64 * 64
	return pending{
		buffer: shape.Buffer, ring: ring,
		first: make([]uint32, shape.Nodes*ring), some: make([]uint64, shape.Nodes*ring/64), links: make([]link, 1),
		held: make([]int, shape.Nodes), farthest: make([]int, shape.Nodes),
	}
}

func (p *pending) at(k, time int) int { return k*p.ring + time%p.ring }

func (p *pending) add(k int, sample uint32, time int) {
	i := p.free
	if i == 0 {
		p.links = append(p.links, link{})
		i = uint32(len(p.links) - 1)
	} else {
		p.free = p.links[i].next
	}
	at := p.at(k, time)
	p.links[i] = link{sample, p.first[at]}
	p.first[at] = i
	p.some[at/64] |= 1 << (at % 64)
	p.held[k]++
	p.farthest[k] = max(p.farthest[k], time)
}

// take lets go of one sample that node k holds for that time; false if there is none.
func (p *pending) take(k, time int) (sample uint32, ok bool) {
	at := p.at(k, time)
	i := p.first[at]
	if i == 0 {
		return 0, false
	}
	p.first[at] = p.links[i].next
	p.links[i].next, p.free = p.free, i
	if p.first[at] == 0 {
		p.some[at/64] &^= 1 << (at % 64)
	}
	p.held[k]--
	return p.links[i].sample, true
}

// room tells whether node k could hold a sample for that time, letting one go that is needed later if need be.
func (p *pending) room(k, time int) bool {
	return p.held[k] < p.buffer || p.held[k] > 0 && p.latest(k) > time
}

// latest is the farthest time for which node k holds a sample. It must hold one.
func (p *pending) latest(k int) int {
	for {
		at := p.at(k, p.farthest[k])
		if word := p.some[at/64] << (63 - at%64); word != 0 {
			p.farthest[k] -= bits.LeadingZeros64(word)
			return p.farthest[k]
		}
		p.farthest[k] -= at%64 + 1
	}
}
