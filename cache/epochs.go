package cache

import (
	"fmt"
	"slices"
	"sync"

	"solarfs/planner"
)

// recentEpochs is how many epochs' plans are kept for strays and samples.npy.
const recentEpochs = 3

// epochs makes the plan of any epoch on request, for what is read outside the
// window. Going forwards costs one epoch's planning; going back, all epochs
// before it.
//
// mu guards the walk and the recent plans, and is held while planning: a second
// reader would wait for the same plan anyway.
type epochs struct {
	spec planner.Spec
	node int // whose batches are kept; -1: all nodes'
	mu   struct {
		sync.Mutex
		walk   *planner.Schedule
		next   int              // the epoch that the walk makes next
		recent []*planner.Epoch // latest use last
	}
}

// get returns the plan of epoch i, 0 <= i < Epochs.
func (e *epochs) get(i int) (*planner.Epoch, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	at := slices.IndexFunc(e.mu.recent, func(ep *planner.Epoch) bool { return ep.Index == i })
	if at >= 0 {
		ep := e.mu.recent[at]
		e.mu.recent = append(slices.Delete(e.mu.recent, at, at+1), ep)
		return ep, nil
	}
	if e.mu.walk == nil || i < e.mu.next {
		walk, err := planner.NewSchedule(e.spec)
		if err != nil {
			return nil, err
		}
		e.mu.walk, e.mu.next = walk, 0
	}
	return e.forwardLocked(i)
}

// forwardLocked walks on to epoch i, which is not behind the walk.
func (e *epochs) forwardLocked(i int) (*planner.Epoch, error) {
	for {
		ep, more := e.mu.walk.Next()
		if !more {
			return nil, fmt.Errorf("the plan has no epoch %d", i)
		}
		e.mu.next = ep.Index + 1
		if ep.Index < i {
			continue
		}
		if e.node >= 0 {
			ep = ep.Only(e.node)
		}
		e.mu.recent = append(e.mu.recent, ep)
		if len(e.mu.recent) > recentEpochs {
			e.mu.recent = slices.Delete(e.mu.recent, 0, 1)
		}
		return ep, nil
	}
}
