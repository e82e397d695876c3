package peers

import (
	"iter"

	"solarfs/balance"
)

// LRU keeps on each node the samples that it used most recently (Mattson et al., IBM Systems Journal 9, 1970), as a cache does that
// knows no future: the page cache, about. A step counts as one access in order of position: the batch is made, then the samples used
// least recently give way, also those of the batch itself where the buffer is smaller. Bytes, readahead and several lists are left out.
//
// Memory: some 30 bytes per sample held.
type LRU struct {
	torch
	epochs
	nodes []recency
	older []int // by node, in the last epoch: samples held since before it
}

// NewLRU returns empty buffers.
func NewLRU(shape balance.Shape) *LRU {
	l := &LRU{torch: newTorch(shape), nodes: make([]recency, shape.Nodes), older: make([]int, shape.Nodes)}
	for k := range l.nodes {
		l.nodes[k] = newRecency()
	}
	return l
}

// Begin starts an epoch.
func (l *LRU) Begin(fresh iter.Seq[[]uint32], _ bool) {
	l.begin(fresh, nil)
	for k := range l.nodes {
		l.older[k] = l.nodes[k].len()
	}
}

// Step deals the next global batch.
func (l *LRU) Step(batch []uint32, regular int) *balance.Dealt {
	l.deal(batch, regular)
	for k := range l.nodes {
		l.use(k)
		l.shrink(k)
	}
	return &l.dealt
}

// use tells hits from loads and marks those that are recent enough to stay.
func (l *LRU) use(k int) {
	samples, fates := l.node(k)
	for i, sample := range samples {
		if l.nodes[k].touch(sample) {
			fates[i] = 0
			l.dealt.Loads[k]--
			l.older[k]--
		}
		if !l.last() && i >= len(samples)-l.shape.Buffer {
			fates[i] |= balance.Keep
		}
	}
}

// shrink evicts what is beyond the buffer's size. In the last epoch what is used again enters the lists only: it displaces what is held as
// it would in any epoch, but is no longer held.
func (l *LRU) shrink(k int) {
	used := &l.nodes[k]
	for used.len() > max(l.shape.Buffer, l.regular[k]) {
		sample := used.evict()
		if l.last() && l.older[k] == 0 {
			continue
		}
		l.older[k]--
		l.dealt.Drops = append(l.dealt.Drops, balance.Moved{Node: uint16(k), Sample: sample})
	}
	for used.len() > l.shape.Buffer {
		used.evict() // of this batch
	}
}

// recency lists samples from the most to the least recently used.
//
// Invariants: entry 0 stands between the least (its newer) and the most recent (its older), and at[s] is the entry of s. free are the
// entries that are in no list.
type recency struct {
	at      map[uint32]uint32
	entries []entry
	free    []uint32
}

type entry struct{ sample, newer, older uint32 }

func newRecency() recency {
	return recency{at: map[uint32]uint32{}, entries: make([]entry, 1)}
}

func (r *recency) len() int { return len(r.at) }

// touch makes a sample the most recent one and tells whether it was listed.
func (r *recency) touch(sample uint32) bool {
	i, listed := r.at[sample]
	if listed {
		r.unlink(i)
	} else {
		i = r.newEntry(sample)
		r.at[sample] = i
	}
	first := r.entries[0].older
	r.entries[i].newer, r.entries[i].older = 0, first
	r.entries[first].newer, r.entries[0].older = i, i
	return listed
}

func (r *recency) newEntry(sample uint32) uint32 {
	if n := len(r.free) - 1; n >= 0 {
		i := r.free[n]
		r.free = r.free[:n]
		r.entries[i].sample = sample
		return i
	}
	r.entries = append(r.entries, entry{sample: sample})
	return uint32(len(r.entries) - 1)
}

// evict takes out the least recent sample; there must be one.
func (r *recency) evict() uint32 {
	i := r.entries[0].newer
	r.unlink(i)
	r.free = append(r.free, i)
	sample := r.entries[i].sample
	delete(r.at, sample)
	return sample
}

func (r *recency) unlink(i uint32) {
	e := r.entries[i]
	r.entries[e.newer].older, r.entries[e.older].newer = e.older, e.newer
}
