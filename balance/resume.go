package balance

// Nobody is the owner of a sample that no buffer holds.
const Nobody = nobody

// Owners says which node holds each sample, or Nobody. It changes with the next Step; the caller must not change it.
func (s *State) Owners() []uint16 { return s.owner }

// Resume makes the buffers of a new State hold what Owners said before an epoch began, whose order it is given.
func (s *State) Resume(owners []uint16, order []uint32) {
	copy(s.owner, owners)
	used := make([]uint64, (len(owners)+63)/64)
	for _, sample := range order {
		used[sample/64] |= 1 << (sample % 64)
	}
	for sample, k := range owners {
		if k == nobody {
			continue
		}
		s.held[k]++
		if used[sample/64]&(1<<(sample%64)) == 0 {
			s.idle[k] = append(s.idle[k], uint32(sample))
		}
	}
}
