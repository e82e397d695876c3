package cache

import (
	"context"

	"golang.org/x/sync/errgroup"

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

// follow starts and commits steps in plan order from global step from.
func (c *Cache) follow(ctx context.Context, from int) error {
	group, ctx := errgroup.WithContext(ctx)
	epochs := make(chan *planner.Epoch) // the next epoch is planned while this one is read
	started := make(chan *step, c.window.span)
	group.Go(func() error { return c.walk(ctx, from/c.stepsPerEpoch, epochs) })
	group.Go(func() error { return c.start(ctx, from, epochs, started) })
	group.Go(func() error { return c.commit(ctx, started) })
	err := group.Wait()
	if ctx.Err() != nil && err == context.Canceled {
		return nil
	}
	return err
}

// walk makes the epochs' plans in order and hands them on from epoch first. A
// plan that differs from the one the user made must not be read by.
func (c *Cache) walk(ctx context.Context, first int, out chan<- *planner.Epoch) error {
	defer close(out)
	schedule, err := planner.NewSchedule(c.cfg.Spec)
	if err != nil {
		return err
	}
	for ctx.Err() == nil {
		ep, more := schedule.Next()
		if !more {
			return nil
		}
		if err := c.epochs.check(ep); err != nil {
			return err
		}
		if ep.Index < first {
			continue
		}
		ep = c.epochs.keep(ep)
		select {
		case out <- ep:
		case <-ctx.Done():
		}
	}
	return ctx.Err()
}

// keepPlanned makes the buffer what the plan lets it be at step t of an epoch,
// so that what the plan keeps later finds room.
func (c *Cache) keepPlanned(ep *planner.Epoch, t int) {
	resident := newBitset(c.cfg.Spec.Samples)
	for step := range c.stepsPerEpoch {
		for local := range c.cfg.Spec.RanksPerNode {
			samples, fates := ep.Batch(step, c.cfg.Node*c.cfg.Spec.RanksPerNode+local)
			for i, sample := range samples {
				if step < t && fates[i]&planner.Keep != 0 || step >= t && fates[i]&planner.Load == 0 {
					resident.set(sample)
				}
			}
		}
		if step >= t {
			for _, sample := range ep.Drops(step, c.cfg.Node) {
				resident.set(sample)
			}
		}
	}
	c.buffer.keepOnly(resident.has)
}
