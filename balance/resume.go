package balance

// Owners says which node holds each sample, or Nobody.
func (s *State) Owners() []uint16 {
	owners := make([]uint16, len(s.places.word))
	for sample := range owners {
		if k := s.places.node(uint32(sample)); k == s.places.nobody {
			owners[sample] = Nobody
		} else {
			owners[sample] = uint16(k)
		}
	}
	return owners
}

// Resume makes the buffers of a new State hold what Owners said before an epoch began, whose order it is given.
func (s *State) Resume(owners []uint16, order []uint32) {
	used := make([]uint64, (len(owners)+63)/64)
	for _, sample := range order {
		used[sample/64] |= 1 << (sample % 64)
	}
	for sample, k := range owners {
		if k == Nobody {
			continue
		}
		s.places.set(uint32(sample), s.places.never, uint32(k))
		s.held[k]++
		if used[sample/64]&(1<<(sample%64)) == 0 {
			s.idle[k] = append(s.idle[k], uint32(sample))
		}
	}
}
