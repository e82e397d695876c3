package planner

import (
	"fmt"

	"solarfs/balance"
)

// resumable is a policy whose whole state between two epochs is who holds which sample.
type resumable interface {
	Owners() []uint16
	// Resume is called before Begin, with the owners at an epoch's begin and its order without repeats.
	Resume(owners []uint16, order []uint32)
}

// Nobody is the owner of a sample that no buffer holds.
const Nobody = balance.Nobody

// Epoch is the index of the epoch that Next plans next.
func (s *Schedule) Epoch() int {
	if s.peeked != nil {
		return s.peeked.Index
	}
	return s.epoch
}

// Owners says which node's buffer holds each sample before the next epoch, or Nobody: all that Resume needs to go on from there. nil if
// plans of this strategy cannot be resumed, or if that epoch has been planned by Peek. It changes with Next; the caller must not change it.
func (s *Schedule) Owners() []uint16 {
	if p, ok := s.policy.(resumable); ok && s.peeked == nil {
		return p.Owners()
	}
	return nil
}

// Resume returns a schedule that goes on with an epoch after the first, from what Owners said before it. It plans the same epochs; their
// statistics are the same but for Bound, which with DropLast takes all samples for used before.
func Resume(spec Spec, epoch int, owners []uint16) (*Schedule, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	if epoch < 1 || epoch >= spec.Epochs || len(owners) != spec.Samples {
		return nil, fmt.Errorf("owners of %d samples before epoch %d do not fit a plan of %d samples and %d epochs", len(owners), epoch, spec.Samples, spec.Epochs)
	}
	held := make([]int, spec.Nodes)
	for sample, k := range owners {
		if k == Nobody {
			continue
		}
		if int(k) >= spec.Nodes {
			return nil, fmt.Errorf("sample %d is said to be held by node %d of %d", sample, k, spec.Nodes)
		}
		if held[k]++; held[k] > spec.BufferSamples {
			return nil, fmt.Errorf("node %d is said to hold more than the %d samples of its buffer", k, spec.BufferSamples)
		}
	}
	s := newSchedule(spec, epoch)
	p, ok := s.policy.(resumable)
	if !ok {
		return nil, fmt.Errorf("plans of strategy %s cannot be resumed", spec.strategy())
	}
	p.Resume(owners, s.order[:spec.regular()])
	s.bounds = &bounds{spec: spec}
	return s, nil
}
