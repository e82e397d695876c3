package planner

import (
	"iter"

	"solarfs/balance"
)

// Schedule walks the epochs of a plan in order. It holds the order of one epoch ahead, since what is kept depends on the next
// use. Not safe for concurrent use; the epochs it returns are.
//
// Memory: Spec.PlanBytes; of the balanced strategy 13 bytes per sample while an epoch is planned, its own 5 included, and 4 per step and node.
type Schedule struct {
	spec   Spec
	epoch  int      // the next to be planned
	order  []uint32 // its order; nil: not made yet
	told   int      // the policy knows the epochs before this one
	depth  int      // how many epochs ahead the policy looks
	policy policy
	count  *counter
	bounds *bounds
	spare  spare
	peeked *Epoch // planned already, for Next to return; nil: none
}

// NewSchedule returns the schedule of a spec, or the error of Validate.
func NewSchedule(spec Spec) (*Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	return newSchedule(spec, 0), nil
}

func newSchedule(spec Spec, epoch int) *Schedule {
	how, order := strategies[spec.strategy()], spec.EpochOrder(epoch)
	return &Schedule{
		spec: spec, epoch: epoch, told: epoch + 1, depth: how.depth(spec), policy: how.make(spec, order[:spec.regular()]),
		order: order, count: newCounter(spec), bounds: newBounds(spec),
	}
}

// Next plans the next epoch; false after the last.
func (s *Schedule) Next() (*Epoch, bool) {
	if e := s.peeked; e != nil {
		s.peeked = nil
		return e, true
	}
	if s.epoch == s.spec.Epochs {
		return nil, false
	}
	if s.order == nil {
		s.order = s.newOrder(s.epoch)
	}
	e := &Epoch{Index: s.epoch, spec: s.spec, last: s.spec.Nodes, samples: s.order, fates: s.spare.newFates(len(s.order))}
	s.epoch++
	s.order = nil
	s.policy.Begin(s.fresh(), s.epoch+1 < s.spec.Epochs)
	s.plan(e)
	return e, true
}

// Peek plans the epoch that Next will return, which is then no work any more; false after the last.
func (s *Schedule) Peek() (*Epoch, bool) {
	e, ok := s.Next()
	s.peeked = e
	return e, ok
}

// fresh yields the orders of the epochs that the policy must be told before the epoch before s.epoch is planned.
func (s *Schedule) fresh() iter.Seq[[]uint32] {
	return func(yield func([]uint32) bool) {
		for ; s.told < min(s.epoch+s.depth, s.spec.Epochs); s.told++ {
			order := s.newOrder(s.told)
			more := yield(order[:s.spec.regular()])
			if s.told == s.epoch {
				s.order = order
			} else {
				s.spare.orders = append(s.spare.orders, order)
			}
			if !more {
				return
			}
		}
	}
}

// plan turns e.samples from positions into batches, in place: a step's samples stay where they are as a set.
func (s *Schedule) plan(e *Epoch) {
	regular := s.spec.regular()
	bound := s.bounds.next(e.samples[:regular])
	s.count.begin()
	for step, from := 0, 0; from < len(e.samples); step++ {
		n := s.spec.Rows(step) * s.spec.Ranks()
		samples, fates := e.samples[from:from+n], e.fates[from:from+n]
		dealt := s.policy.Step(samples, max(0, min(n, regular-from)))
		s.count.step(dealt, from+n > regular)
		e.addStarts(from, dealt.Starts)
		s.toRanks(dealt, samples, fates)
		e.drops.add(dealt.Drops, s.spec.Nodes)
		e.riders.add(dealt.Riders, s.spec.Nodes)
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
	to := 0
	for node := range s.spec.Nodes {
		mine, theirs := d.Node(node)
		for local := range ranks {
			for i := local; i < len(mine); i += ranks {
				samples[to], fates[to] = mine[i], theirs[i]
				to++
			}
		}
	}
}
