package cache

import "solarfs/planner"

// sampleSet is a set of samples, and how many they are.
type sampleSet struct {
	bits []uint64
	n    int
}

func newSampleSet(samples int) *sampleSet { return &sampleSet{bits: make([]uint64, (samples+63)/64)} }

func (s *sampleSet) has(sample uint32) bool { return s.bits[sample/64]&(1<<(sample%64)) != 0 }

func (s *sampleSet) add(sample uint32) {
	if !s.has(sample) {
		s.bits[sample/64] |= 1 << (sample % 64)
		s.n++
	}
}

func (s *sampleSet) remove(sample uint32) {
	if s.has(sample) {
		s.bits[sample/64] &^= 1 << (sample % 64)
		s.n--
	}
}

// pass turns what the plan has in a node's buffer before a step into what it has
// after it. Leaving comes first: a sample may leave and ride in again at once.
func (s *sampleSet) pass(ep *planner.Epoch, step, node, ranksPerNode int) {
	for local := range ranksPerNode {
		samples, fates := ep.Batch(step, node*ranksPerNode+local)
		for i, sample := range samples {
			if fates[i] == 0 {
				s.remove(sample)
			}
		}
	}
	for _, sample := range ep.Drops(step, node) {
		s.remove(sample)
	}
	for local := range ranksPerNode {
		samples, fates := ep.Batch(step, node*ranksPerNode+local)
		for i, sample := range samples {
			if fates[i]&planner.Keep != 0 {
				s.add(sample)
			}
		}
	}
	for _, sample := range ep.Riders(step, node) {
		s.add(sample)
	}
}
