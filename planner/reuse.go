package planner

// spare is the memory of epochs that nobody uses any more. At 100 million samples the kernel takes a seventh of the time of planning
// to find and to clear as much anew for every epoch.
type spare struct {
	orders [][]uint32
	fates  []Fate
}

// Reuse lets a later Next use the memory of an epoch that Next has returned. The caller, and whoever got it or a Batch of it, must not
// use it any more; what Only returned stays as it is.
func (s *Schedule) Reuse(e *Epoch) {
	s.spare.orders = append(s.spare.orders, e.samples)
	s.spare.fates = e.fates
	e.samples, e.fates = nil, nil
}

// newOrder is the order of an epoch, in spare memory if there is some.
func (s *Schedule) newOrder(epoch int) []uint32 {
	last := len(s.spare.orders) - 1
	if last < 0 {
		return s.spec.EpochOrder(epoch)
	}
	order := s.spare.orders[last]
	s.spare.orders = s.spare.orders[:last]
	return s.spec.epochOrder(epoch, order)
}

// newFates is an epoch's fates, n as for every epoch, of which planning writes each.
func (s *spare) newFates(n int) (fates []Fate) {
	if fates, s.fates = s.fates, nil; fates == nil {
		return make([]Fate, n)
	}
	return fates
}
