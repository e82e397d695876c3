package cache

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"solarfs/planner"
)

// walkedEpochs is how many epochs' plans of the read-ahead are kept: the one
// that the readers may still be in, the one whose batches are being made, and
// the next.
const walkedEpochs = 3

// epochs are the plans of epochs that are being read. Those of the window come
// from its own walk; any other is made on request, which costs the planning of
// all epochs up to it, or from the last one asked for. One of these is kept, and
// takes no place from those of the walk.
//
// mu guards what is known. making is held while planning on request: a second
// reader would wait for the same plan anyway.
type epochs struct {
	spec    planner.Spec
	node    int                               // whose batches are kept; -1: all nodes'
	digests []string                          // that the plans must have; nil: any
	resume  func(epoch int) *planner.Schedule // see Config.Resume
	making  chan struct{}                     // holds one element while nobody plans
	walk    *planner.Schedule                 // guarded by making
	mu      struct {
		sync.Mutex
		walked []*planner.Epoch // oldest first
		asked  *planner.Epoch   // nil: none
		coming int              // the epoch that the read-ahead is planning; -1: none
		came   chan struct{}    // closed when it no longer does
	}
}

func newEpochs(spec planner.Spec, node int, digests []string, resume func(int) *planner.Schedule) *epochs {
	e := &epochs{spec: spec, node: node, digests: digests, resume: resume, making: make(chan struct{}, 1)}
	e.making <- struct{}{}
	e.mu.coming, e.mu.came = -1, make(chan struct{})
	return e
}

// schedule returns one that begins at epoch i or before it.
func (e *epochs) schedule(i int) (*planner.Schedule, error) {
	if e.resume != nil {
		if s := e.resume(i); s != nil {
			return s, nil
		}
	}
	return planner.NewSchedule(e.spec)
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

// expect says that the read-ahead plans epoch i now, or none if i is -1.
func (e *epochs) expect(i int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.expectLocked(i)
}

func (e *epochs) expectLocked(i int) {
	close(e.mu.came)
	e.mu.coming, e.mu.came = i, make(chan struct{})
}

// keep stores a plan of the read-ahead's schedule and returns the part of it that is kept.
// Who waits for it is told now: the read-ahead itself may go on only when they do.
func (e *epochs) keep(ep *planner.Epoch, schedule *planner.Schedule) *planner.Epoch {
	known, _ := e.known(ep.Index)
	if known == nil {
		known = e.part(ep, schedule)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	defer e.expectLocked(-1)
	if slices.Contains(e.mu.walked, known) {
		return known
	}
	e.mu.walked = append(e.mu.walked, known)
	if len(e.mu.walked) > walkedEpochs {
		e.mu.walked = slices.Delete(e.mu.walked, 0, 1)
	}
	return known
}

// part is what is kept of a plan, whose memory the schedule that made it gets back.
func (e *epochs) part(ep *planner.Epoch, schedule *planner.Schedule) *planner.Epoch {
	if e.node < 0 {
		return ep
	}
	part := ep.Only(e.node)
	schedule.Reuse(ep)
	return part
}

// known returns a plan that is kept, or nil and, if the read-ahead is planning
// it, what to wait for.
func (e *epochs) known(i int) (ep *planner.Epoch, coming <-chan struct{}) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if at := slices.IndexFunc(e.mu.walked, func(ep *planner.Epoch) bool { return ep.Index == i }); at >= 0 {
		return e.mu.walked[at], nil
	}
	if e.mu.asked != nil && e.mu.asked.Index == i {
		return e.mu.asked, nil
	}
	if i == e.mu.coming {
		return nil, e.mu.came
	}
	return nil, nil
}

// get returns the plan of epoch i, 0 <= i < Epochs. When ctx ends it does so
// with the epoch that is being planned.
func (e *epochs) get(ctx context.Context, i int) (*planner.Epoch, error) {
	for {
		ep, coming := e.known(i)
		if ep != nil {
			return ep, nil
		}
		making := e.making
		if coming != nil {
			making = nil
		}
		select {
		case <-coming:
		case <-making:
			ep, err := e.makeUpTo(ctx, i)
			e.making <- struct{}{}
			return ep, err
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// makeUpTo goes on with the walk of those who ask, or begins another if that is past
// epoch i or farther before it. Only one caller at a time.
func (e *epochs) makeUpTo(ctx context.Context, i int) (*planner.Epoch, error) {
	if ep, _ := e.known(i); ep != nil {
		return ep, nil // made while making was waited for
	}
	if e.walk == nil || i < e.walk.Epoch() || i > e.walk.Epoch()+1 {
		walk, err := e.schedule(i)
		if err != nil {
			return nil, err
		}
		if e.walk == nil || i < e.walk.Epoch() || walk.Epoch() > e.walk.Epoch() {
			e.walk = walk
		}
	}
	for ctx.Err() == nil {
		ep, more := e.walk.Next()
		if !more {
			return nil, fmt.Errorf("the plan has no epoch %d", i)
		}
		if err := e.check(ep); err != nil {
			return nil, err
		}
		if ep.Index != i {
			e.walk.Reuse(ep)
			continue
		}
		part := e.part(ep, e.walk)
		e.mu.Lock()
		defer e.mu.Unlock()
		e.mu.asked = part
		return part, nil
	}
	return nil, ctx.Err()
}
