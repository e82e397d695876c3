package cache

import (
	"fmt"
	"slices"
	"sync"

	"solarfs/planner"
)

// recentEpochs is how many epochs' plans are kept: the one being read, the next,
// and one that is read out of order.
const recentEpochs = 3

// epochs are the plans of epochs that are being read. Those of the window come
// from its own walk; any other is made on request, which costs the planning of
// all epochs up to it, or from the last one asked for.
//
// mu guards all but spec, node and digests. making is held while planning: a
// second reader would wait for the same plan anyway.
type epochs struct {
	spec    planner.Spec
	node    int      // whose batches are kept; -1: all nodes'
	digests []string // that the plans must have; nil: any
	making  sync.Mutex
	walk    *planner.Schedule // guarded by making, like next
	next    int               // the epoch that the walk makes next
	mu      struct {
		sync.Mutex
		recent []*planner.Epoch // latest use last
	}
}

// check refuses a plan that differs from the one the user made.
func (e *epochs) check(ep *planner.Epoch) error {
	if e.digests == nil {
		return nil
	}
	if got := fmt.Sprintf("%x", ep.Digest()); got != e.digests[ep.Index] {
		return fmt.Errorf("epoch %d: this version of solarfs plans differently from the one that made the plan (digest %.12s, the plan says %.12s); make the plan anew",
			ep.Index, got, e.digests[ep.Index])
	}
	return nil
}

// keep stores a plan for get and returns the part of it that is kept.
func (e *epochs) keep(ep *planner.Epoch) *planner.Epoch {
	if known := e.known(ep.Index); known != nil {
		return known
	}
	if e.node >= 0 {
		ep = ep.Only(e.node)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.recent = append(e.mu.recent, ep)
	if len(e.mu.recent) > recentEpochs {
		e.mu.recent = slices.Delete(e.mu.recent, 0, 1)
	}
	return ep
}

// known returns a plan that is kept, or nil.
func (e *epochs) known(i int) *planner.Epoch {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.mu.recent, func(ep *planner.Epoch) bool { return ep.Index == i })
	if at < 0 {
		return nil
	}
	ep := e.mu.recent[at]
	e.mu.recent = append(slices.Delete(e.mu.recent, at, at+1), ep)
	return ep
}

// get returns the plan of epoch i, 0 <= i < Epochs.
func (e *epochs) get(i int) (*planner.Epoch, error) {
	if ep := e.known(i); ep != nil {
		return ep, nil
	}
	e.making.Lock()
	defer e.making.Unlock()
	if ep := e.known(i); ep != nil {
		return ep, nil
	}
	if e.walk == nil || i < e.next {
		walk, err := planner.NewSchedule(e.spec)
		if err != nil {
			return nil, err
		}
		e.walk, e.next = walk, 0
	}
	for {
		ep, more := e.walk.Next()
		if !more {
			return nil, fmt.Errorf("the plan has no epoch %d", i)
		}
		e.next = ep.Index + 1
		if err := e.check(ep); err != nil {
			return nil, err
		}
		if ep.Index == i {
			return e.keep(ep), nil
		}
	}
}
