package chunked

// Owners says which node holds each sample, or balance.Nobody. It changes with the next Step; the caller must not change it.
func (s *State) Owners() []uint16 { return s.owner }

// Resume makes the buffers of a new State hold what Owners said before an epoch began, whose order it is given. That must not have been
// the first epoch.
func (s *State) Resume(owners []uint16, order []uint32) {
	copy(s.owner, owners)
	s.foresee(s.at[0], order)
	s.resumed = true
}

// enlist makes the lists of what is held anew, by sample, so that they do not depend on how it came there.
func (s *State) enlist() {
	s.held.clear(s.epoch * s.shape.Steps)
	for sample, k := range s.owner {
		if k == nobody {
			continue
		}
		epoch, step := s.epoch, s.at[s.epoch%2][sample]
		if step == never { // the epoch leaves it out
			epoch++
			step = min(s.at[epoch%2][sample], uint32(s.shape.Steps-1))
		}
		s.held.add(int(k), uint32(sample), epoch*s.shape.Steps+int(step))
	}
}
