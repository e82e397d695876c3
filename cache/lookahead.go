package cache

import (
	"context"
	"slices"
	"sync"

	"golang.org/x/sync/semaphore"

	"solarfs/h5backend"
	"solarfs/planner"
)

// maxUnderWay is how many loads may be under way ahead of the readers: several times any useful queue depth, so that the
// storage never idles, and few enough that what is needed first is not read last.
const maxUnderWay = 512

// lookahead plans steps and has their loads read, sweep by sweep, into files of steps that have some and into slots of the
// buffer. It is one goroutine's, but for what slots guards.
type lookahead struct {
	c        *Cache
	epochs   <-chan *planner.Epoch
	ep       *planner.Epoch // being planned
	t        int            // its next step
	ended    bool           // no epoch is left
	held     *sampleSet     // by plan, after the last planned step
	slots    *slots
	sweeper  sweeper
	calls    callSize
	planned  chan<- *step
	underWay *semaphore.Weighted
	running  sync.WaitGroup
}

// run reads until the plan's end. It returns when nothing is being read any more.
func (a *lookahead) run(ctx context.Context) error {
	defer close(a.planned)
	defer a.running.Wait()
	var due []item
	for want := 1; ; want = min(a.c.sweepLoads(), 4*max(want, len(due))) {
		var err error
		if due, err = a.plan(ctx, due[:0], want); err != nil {
			return err
		}
		// Who begins to read waits for no more than one step.
		if err := a.read(ctx, a.sweeper.next(due, want == 1 || !a.c.sweeps())); err != nil {
			return err
		}
		if a.ended && len(a.sweeper.carry) == 0 {
			return nil
		}
	}
}

// plan lists the loads of the steps to come: so many, to the end of a step, or fewer if a sweep's steps have no more.
func (a *lookahead) plan(ctx context.Context, due []item, want int) ([]item, error) {
	for n := 0; n < a.c.sweepSteps() && len(due) < want; n++ {
		s, err := a.step(ctx)
		if s == nil || err != nil {
			return due, err
		}
		a.slots.planned(a.held.n)
		for i := range s.loads {
			due = append(due, item{s, &s.loads[i]})
		}
		select {
		case a.planned <- s:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return due, nil
}

// step plans the next step; nil at the plan's end.
func (a *lookahead) step(ctx context.Context) (*step, error) {
	if a.ep == nil || a.t == a.c.stepsPerEpoch {
		select {
		case ep, more := <-a.epochs:
			if !more {
				a.ended = true
				return nil, ctx.Err()
			}
			a.ep, a.t = ep, 0
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	s := a.c.newStep(a.ep, a.t, a.held)
	a.t++
	return s, nil
}

// read sets off the reads of a sweep.
func (a *lookahead) read(ctx context.Context, sweep []item) error {
	chunk := max(1, a.c.cfg.Spec.Chunk)
	for call := range a.calls.cut(sweep, chunk, a.c.gap()/chunk) {
		if err := a.place(ctx, call); err != nil {
			return err
		}
	}
	return nil
}

// place sets off a call when there is a place for each of its loads.
func (a *lookahead) place(ctx context.Context, call []item) error {
	for {
		// The call was made up before others were hurried.
		call = slices.DeleteFunc(call, func(it item) bool { return it.taken })
		if len(call) == 0 {
			return nil
		}
		granted, urgent, err := a.slots.grant(ctx, call, spareFor(a.c.ahead))
		if err != nil {
			return err
		}
		if urgent == nil {
			if err := a.underWay.Acquire(ctx, a.weight(granted)); err != nil {
				return err
			}
			a.send(ctx, granted, true)
			return nil
		}
		granted, leftOut := a.slots.hurry(urgent)
		a.send(ctx, granted, false)
		urgent.over(leftOut)
	}
}

func (a *lookahead) weight(call []item) int64 { return min(int64(len(call)), maxUnderWay) }

// send reads loads in the background.
func (a *lookahead) send(ctx context.Context, call []item, counted bool) {
	reads := make([]h5backend.Request, 0, len(call)*len(a.c.cfg.Fields))
	for _, it := range call {
		if it.slot == inSlot {
			it.slot = int32(a.c.buffer.take())
		}
		for field := range a.c.cfg.Fields {
			reads = append(reads, h5backend.Request{Field: field, Sample: it.sample, Dst: a.c.place(it, field)})
		}
	}
	a.running.Go(func() {
		a.c.cfg.Ahead.Read(ctx, reads)
		if counted {
			a.underWay.Release(a.weight(call))
		}
		a.c.arrived(call, reads)
	})
}

// place is where a load's field is read to.
func (c *Cache) place(it item, field int) []byte {
	if it.slot == inFile {
		return it.step.files[it.rank][field].row(int(it.row))
	}
	return c.buffer.part(uint32(it.slot), field)
}

// arrived notes for each load whether it was read. A rider has no second chance, so its error counts; any other load is
// read again when its step is committed.
func (c *Cache) arrived(call []item, reads []h5backend.Request) {
	fields := len(c.cfg.Fields)
	for k, it := range call {
		own := reads[k*fields:][:fields]
		if bad := slices.IndexFunc(own, func(r h5backend.Request) bool { return r.Err != nil }); bad >= 0 {
			it.failed = true
			if it.rider {
				it.step.rideFailed(own[bad].Err)
			}
		}
		it.step.over(1)
	}
}

// sweepLoads is how many loads a sweep is given: nearly twice as many as there are slots for them, since a load waits half
// a sweep in the mean. The rest of the slots takes loads of the next sweep that are read over anyway (TestOverReadLoads). A plan of
// chunks reads ahead by itself, into the buffer, and counts on its order: there a sweep is a step.
func (c *Cache) sweepLoads() int {
	spec := c.cfg.Spec
	switch {
	case spec.Chunk > 1:
		return 1
	case !c.sweeps():
		return max(1, c.ahead)
	}
	return sweepFor(c.ahead)
}

// sweeps tells whether sweeps leave loads to the next one: where the slots have room for some steps. With fewer, a step waits for the
// sweep's end while the storage has nothing to do (64 slots, steps of 34 loads: 12 % slower).
func (c *Cache) sweeps() bool {
	const steps = 4
	return c.cfg.Spec.Chunk <= 1 && c.ahead >= steps*c.cfg.Spec.RanksPerNode*c.cfg.Spec.BatchSize
}

// sweepFor is how many loads a sweep over the file is given if there are slots for so many.
func sweepFor(slots int) int { return slots * 17 / 10 }

// spare is how many slots are kept from loads that are left to the next sweep.
type spare struct {
	between int // from those that are read over anyway
	beside  int // from those for which a request grows
}

// spareFor keeps some for the loads that must be read now, and some more for those that cost nothing (TestOverReadLoads).
func spareFor(slots int) spare { return spare{between: slots / 50, beside: slots / 8} }

// sweepSteps is how many steps a sweep is given at most, however few loads they have: a planned step takes memory, too.
func (c *Cache) sweepSteps() int { return min(c.stepsPerEpoch, max(64, c.sweepLoads()/2)) }
