package planner

// bounds yields, epoch by epoch, the least number of loads that any plan can have; see the package comment.
type bounds struct {
	spec   Spec
	used   []uint64 // bit per sample: used in an earlier epoch; nil where only the first epoch must read what no epoch has used before
	unseen int      // where used is nil: samples that the first epoch uses; 0 after it
}

func newBounds(s Spec) *bounds {
	b := &bounds{spec: s, unseen: s.regular()}
	// A rider may be read in an epoch before the one that uses it first.
	if s.regular() < s.Samples && s.Chunk <= 1 {
		b.used = make([]uint64, ceilDiv(s.Samples, 64))
	}
	return b
}

// next takes an epoch's samples, each once, and returns its bound.
func (b *bounds) next(samples []uint32) int {
	return max(len(samples)-b.spec.allBuffers(), b.fresh(samples))
}

// fresh counts the samples that no earlier epoch used.
func (b *bounds) fresh(samples []uint32) int {
	if b.used == nil {
		n := b.unseen
		b.unseen = 0
		return n
	}
	n := 0
	for _, s := range samples {
		bit := uint64(1) << (s % 64)
		if b.used[s/64]&bit == 0 {
			b.used[s/64] |= bit
			n++
		}
	}
	return n
}

// LoadsBound is the least number of loads over all epochs, repeats not counted, as far as it is known without planning: with
// DropLast the samples that only later epochs use may add to it (EpochStats.Bound counts them).
func (s Spec) LoadsBound() int {
	n := s.regular()
	return n + (s.Epochs-1)*max(0, n-s.allBuffers())
}
