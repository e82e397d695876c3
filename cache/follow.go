package cache

import (
	"context"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sync/semaphore"

	"solarfs/planner"
)

// run keeps the window ahead of the readers until ctx ends: from the plan's
// first step, and again from wherever the readers jump to.
func (c *Cache) run(ctx context.Context) error {
	for from := 0; ; {
		next, err := c.followUntilJump(ctx, from)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		from = next
		c.log.Info("the readers have moved; reading ahead from there", "epoch", from/c.stepsPerEpoch, "step", from%c.stepsPerEpoch)
		c.window.restart(from)
	}
}

// followUntilJump follows the plan from global step from, stays at its end, and
// returns the step to which the readers have gone instead.
func (c *Cache) followUntilJump(ctx context.Context, from int) (next int, err error) {
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- c.follow(ctx, from)
		close(ended)
	}()
	defer func() {
		stop()
		for range ended { // its reads write into the window's files
		}
	}()
	for done := ended; ; {
		select {
		case next := <-c.window.jump:
			return next, nil
		case err := <-done:
			if err != nil {
				return 0, err
			}
			done = nil
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

// follow plans, reads and commits steps in plan order from global step from.
func (c *Cache) follow(ctx context.Context, from int) error {
	group, ctx := errgroup.WithContext(ctx)
	epochs := make(chan *planner.Epoch) // the next epoch is planned while this one is read
	carried := newSampleSet(c.cfg.Spec.Samples)
	group.Go(func() error { return c.walk(ctx, from/c.stepsPerEpoch, carried, epochs) })
	group.Go(func() error { return c.pipeline(ctx, from%c.stepsPerEpoch, carried, epochs) })
	err := group.Wait()
	if ctx.Err() != nil && err == context.Canceled {
		return nil
	}
	return err
}

// pipeline has the steps read and commits them, from step t of the first epoch on. carried is what the plan has in the buffer
// when that epoch begins; it is the pipeline's from then on.
func (c *Cache) pipeline(ctx context.Context, t int, carried *sampleSet, epochs <-chan *planner.Epoch) error {
	ep, more := <-epochs
	if !more {
		return ctx.Err()
	}
	held := c.keepPlanned(ep, t, carried)
	slots := newSlots(c.buffer.all, held.n)
	// A sweep's steps are planned before any of it is read, and those of the sweep before may not have files yet.
	planned := make(chan *step, 2*c.sweepSteps()+1)
	placed := make(chan *step, c.window.span)
	a := lookahead{
		c: c, epochs: epochs, ep: ep, t: t, held: held, slots: slots, calls: callsFor(c.ahead),
		planned: planned, underWay: semaphore.NewWeighted(maxUnderWay),
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return a.run(ctx) })
	group.Go(func() error { return c.placeFiles(ctx, planned, slots, placed) })
	group.Go(func() error { return c.commit(ctx, placed, slots) })
	return group.Wait()
}

// walk makes the epochs' plans in order and hands them on from epoch first, when
// planned has become what they have in the node's buffer at its begin. A plan that
// differs from the one the user made must not be read by.
func (c *Cache) walk(ctx context.Context, first int, planned *sampleSet, out chan<- *planner.Epoch) error {
	defer close(out)
	defer c.epochs.expect(-1)
	schedule, err := c.epochs.schedule(first)
	if err != nil {
		return err
	}
	if schedule.Epoch() > 0 {
		for sample, node := range schedule.Owners() {
			if int(node) == c.cfg.Node {
				planned.add(uint32(sample))
			}
		}
	}
	for i := schedule.Epoch(); ctx.Err() == nil; i++ {
		c.epochs.expect(max(i, first))
		ep, more := schedule.Next()
		if !more {
			return nil
		}
		if err := c.epochs.check(ep); err != nil {
			return err
		}
		if ep.Index < first {
			for step := range c.stepsPerEpoch {
				planned.pass(ep, step, c.cfg.Node, c.cfg.Spec.RanksPerNode)
			}
			schedule.Reuse(ep)
			continue
		}
		ep = c.epochs.keep(ep, schedule)
		select {
		case out <- ep:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// keepPlanned makes the buffer what the plan lets it be at step t of an epoch,
// so that what the plan keeps later finds room, and returns what is held then.
// planned is what the plan has in it at the epoch's begin.
func (c *Cache) keepPlanned(ep *planner.Epoch, t int, planned *sampleSet) *sampleSet {
	for step := range t {
		planned.pass(ep, step, c.cfg.Node, c.cfg.Spec.RanksPerNode)
	}
	c.buffer.keepOnly(planned.has)
	held := planned // its memory is used again
	clear(held.bits)
	held.n = 0
	c.buffer.samples(held.add)
	return held
}
