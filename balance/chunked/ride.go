package chunked

import (
	"cmp"
	"math"
	"slices"

	"solarfs/balance"
)

// sibling is a sample of a chunk that is being read, which no buffer holds, and when it is needed next.
type sibling struct {
	time   int
	sample uint32
}

// gather lists the siblings in a chunk that no buffer holds and that are needed again, the soonest first, and those that buffers hold. Hits
// of this step are left to keepHits.
func (s *State) gather(chunk uint32) {
	s.siblings, s.elsewhere = s.siblings[:0], s.elsewhere[:0]
	from := int(chunk) * s.chunk
	until := s.until(chunk)
	for sample := from; sample < min(from+s.chunk, s.shape.Samples); sample++ {
		if s.owner[sample] != nobody {
			if time, ok := s.due(uint32(sample)); ok {
				s.elsewhere = append(s.elsewhere, sibling{time, uint32(sample)})
			}
			continue
		}
		if time, ok := s.due(uint32(sample)); ok && time <= until {
			s.siblings = append(s.siblings, sibling{time, uint32(sample)})
		}
	}
	slices.SortFunc(s.siblings, func(a, b sibling) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.sample, b.sample))
	})
}

// until is the last time for which a chunk's samples are kept. At the chunk's first read it is drawn anew, so that the chunks are not
// all read again at once, with all memory empty before and full after. Where all fits, no memory runs empty.
func (s *State) until(chunk uint32) int {
	if s.inPlace || s.allFit() {
		return math.MaxInt
	}
	if bit := uint64(1) << (chunk % 64); s.seen[chunk/64]&bit == 0 {
		s.seen[chunk/64] |= bit
		return s.now() + s.firstReach(chunk)
	}
	return s.now() + s.reach
}

// allFit tells whether the buffers have room for the whole set.
func (s *State) allFit() bool { return s.shape.Buffer*s.shape.Nodes >= s.shape.Samples }

// ride lets those siblings into the buffer of node k, which reads their chunk for the misses, that find room. For the first other the chunk
// is read again, and its reader may have room for all the others. A sibling of the global batch stays where it is processed.
func (s *State) ride(k int, batch []uint32, regular int, misses []miss) {
	for _, sib := range s.siblings {
		if s.owner[sib.sample] != nobody {
			continue
		}
		position := -1
		if s.isDue(sib.sample) {
			at := slices.IndexFunc(misses, func(m miss) bool { return batch[m.position] == sib.sample && int(m.position) < regular })
			if at < 0 {
				continue // a hit, or a miss of another node
			}
			position = int(misses[at].position)
		}
		if s.held.room(k, sib.time) {
			s.enter(k, sib.sample, sib.time, position)
		}
	}
}

// takeOver moves siblings that other nodes hold to node k, which reads their chunk: those of which the holder has more for the same
// time. A node's share of a step is nearly full of hits where chunks are large, and a sample that finds no place costs a read of its chunk;
// of 64 samples a chunk, half the set in buffers of 4 nodes, it saves a third of the reads.
func (s *State) takeOver(k int) {
	for _, sib := range s.elsewhere {
		if s.held.count[k] == s.shape.Buffer {
			return
		}
		i, row := s.owner[sib.sample], s.held.row(sib.time)
		if i == nobody || row[i] <= row[k] || int(row[k]) >= s.held.most(sib.time) {
			continue // evicted meanwhile; node k's own, or no better there
		}
		s.letGo(int(i), sib.sample, sib.time)
		s.enter(k, sib.sample, sib.time, -1)
	}
}

// readBefore tells whether the chunk of a sample will be read before that time for a sibling that no buffer holds.
func (s *State) readBefore(sample uint32, time int) bool {
	from := int(sample) / s.chunk * s.chunk
	for sib := from; sib < min(from+s.chunk, s.shape.Samples); sib++ {
		if s.owner[sib] != nobody || sib == int(sample) {
			continue
		}
		if other, ok := s.due(uint32(sib)); ok && other < time {
			return true
		}
	}
	return false
}

// enter lets a sample into the buffer of node k, where there must be room for it.
func (s *State) enter(k int, sample uint32, time, position int) {
	if s.held.count[k] == s.shape.Buffer {
		s.evict(k)
	}
	s.held.add(k, sample, time)
	s.owner[sample] = uint16(k)
	s.isNew[sample/64] |= 1 << (sample % 64)
	s.entered = append(s.entered, entry{uint16(k), sample, position})
}

// evict lets go what node k needs last.
func (s *State) evict(k int) {
	sample, time := s.held.last(k)
	s.letGo(k, sample, time)
}

// letGo takes a sample from the buffer of node k. One that entered in this step leaves no trace.
func (s *State) letGo(k int, sample uint32, time int) {
	s.held.remove(k, sample, time)
	s.owner[sample] = nobody
	if bit := uint64(1) << (sample % 64); s.isNew[sample/64]&bit != 0 {
		s.isNew[sample/64] &^= bit
	} else {
		s.dealt.Drops = append(s.dealt.Drops, balance.Moved{Node: uint16(k), Sample: sample})
	}
}

// settle writes down what has entered and not left again.
func (s *State) settle() {
	d := &s.dealt
	for _, e := range s.entered {
		bit := uint64(1) << (e.sample % 64)
		if s.isNew[e.sample/64]&bit == 0 || s.owner[e.sample] != e.node {
			continue
		}
		s.isNew[e.sample/64] &^= bit
		if e.position >= 0 {
			s.fates[e.position] |= balance.Keep
			continue
		}
		d.Riders = append(d.Riders, balance.Moved{Node: e.node, Sample: e.sample})
		d.Loads[e.node]++
	}
	byNode := func(a, b balance.Moved) int { return cmp.Compare(a.Node, b.Node) }
	slices.SortStableFunc(d.Drops, byNode)
	slices.SortStableFunc(d.Riders, byNode)
}
