package planner

import "solarfs/balance"

// Schedule walks the epochs of a plan in order. It holds the order of one epoch ahead, since what is kept depends on the next
// use. Not safe for concurrent use; the epochs it returns are.
//
// Memory: 15 bytes per sample while an epoch is planned, its own 5 included, and 4 per step and node.
type Schedule struct {
	spec   Spec
	epoch  int      // the next to be planned
	order  []uint32 // its order
	state  *balance.State
	count  *counter
	bounds *bounds
}

// NewSchedule returns the schedule of a spec, or the error of Validate.
func NewSchedule(spec Spec) (*Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	steps := spec.Steps()
	return &Schedule{
		spec:  spec,
		order: spec.EpochOrder(0),
		state: balance.New(balance.Shape{
			Samples:   spec.Samples,
			Nodes:     spec.Nodes,
			Steps:     steps,
			Slots:     spec.RanksPerNode * spec.Rows(0),
			TailSlots: spec.RanksPerNode * spec.Rows(steps-1),
			Buffer:    spec.BufferSamples,
		}),
		count:  newCounter(spec),
		bounds: newBounds(spec),
	}, nil
}

// Next plans the next epoch; false after the last.
func (s *Schedule) Next() (*Epoch, bool) {
	if s.epoch == s.spec.Epochs {
		return nil, false
	}
	e := &Epoch{Index: s.epoch, spec: s.spec, last: s.spec.Nodes, samples: s.order, fates: make([]Fate, len(s.order))}
	s.epoch++
	s.order = nil
	if s.epoch < s.spec.Epochs {
		s.order = s.spec.EpochOrder(s.epoch)
		s.state.Begin(s.order[:s.spec.regular()], s.epoch+1 < s.spec.Epochs)
	} else {
		s.state.Begin(nil, false)
	}
	s.plan(e)
	return e, true
}

// plan turns e.samples from positions into batches, in place: a step's samples stay where they are as a set.
func (s *Schedule) plan(e *Epoch) {
	regular := s.spec.regular()
	bound := s.bounds.next(e.samples[:regular])
	s.count.begin()
	for step, from := 0, 0; from < len(e.samples); step++ {
		n := s.spec.Rows(step) * s.spec.Ranks()
		samples, fates := e.samples[from:from+n], e.fates[from:from+n]
		dealt := s.state.Step(samples, min(n, regular-from))
		s.count.step(dealt, from+n > regular)
		s.toRanks(dealt, samples, fates)
		for _, d := range dealt.Drops {
			e.drops.keys = append(e.drops.keys, uint64(step*s.spec.Nodes+int(d.Node)))
			e.drops.samples = append(e.drops.samples, d.Sample)
		}
		from += n
	}
	e.stats = s.count.end(len(e.samples)-regular, bound)
	e.digest = digestOf(e)
}

// toRanks deals each node's samples over its ranks, the i-th to local rank i mod RanksPerNode. Then on a single node every
// rank's batch is torch's own.
func (s *Schedule) toRanks(d *balance.Dealt, samples []uint32, fates []Fate) {
	ranks := s.spec.RanksPerNode
	if ranks == 1 {
		copy(samples, d.Samples)
		copy(fates, d.Fates)
		return
	}
	slots := len(samples) / s.spec.Nodes
	rows := slots / ranks
	for node := 0; node < len(samples); node += slots {
		for local := range ranks {
			to := node + local*rows
			for row := range rows {
				samples[to+row] = d.Samples[node+row*ranks+local]
				fates[to+row] = d.Fates[node+row*ranks+local]
			}
		}
	}
}
