package cache

import (
	"context"
	"slices"
	"time"

	"solarfs/batchfile"
	"solarfs/internal/memfd"
	"solarfs/planner"
)

// start takes memory for one step after the other and sets its loads off.
func (c *Cache) start(ctx context.Context, from int, epochs <-chan *planner.Epoch, started chan<- *step) error {
	defer close(started)
	held := newBitset(c.cfg.Spec.Samples)
	t := from % c.stepsPerEpoch
	first := true
	for ep := range epochs {
		if first {
			c.keepPlanned(ep, t)
			c.buffer.samples(held.set)
			first = false
		}
		for ; t < c.stepsPerEpoch; t++ {
			s, err := c.newStep(ctx, ep.Index*c.stepsPerEpoch+t)
			if err != nil {
				return err
			}
			s.plan(ep, t, c.cfg.Node, c.cfg.Spec.RanksPerNode, held)
			c.window.add(s)
			if err := c.load(ctx, s); err != nil {
				close(s.read)
				return err
			}
			started <- s
		}
		t = 0
	}
	return nil
}

// newStep takes the memory of a step's batch files and writes their headers.
func (c *Cache) newStep(ctx context.Context, g int) (*step, error) {
	rows := c.cfg.Spec.Rows(g % c.stepsPerEpoch)
	var layouts []batchfile.Layout
	var sizes []int
	for field := range c.cfg.Fields {
		layouts = append(layouts, c.Layout(field, rows))
		sizes = append(sizes, int(layouts[field].Size()))
	}
	memory, err := c.memory(ctx, slices.Repeat(sizes, c.cfg.Spec.RanksPerNode))
	if err != nil {
		return nil, err
	}
	s := &step{g: g, read: make(chan struct{})}
	for range c.cfg.Spec.RanksPerNode {
		var files []*batchFile
		for field, layout := range layouts {
			copy(memory[field].Data, layout.Header)
			files = append(files, &batchFile{file: memory[field], layout: layout, done: make(chan struct{})})
		}
		memory = memory[len(layouts):]
		s.files = append(s.files, files)
	}
	return s, nil
}

// memory takes a step's memory files from the pool. When the system has none
// to give, it asks again: readers are served as strays meanwhile.
func (c *Cache) memory(ctx context.Context, sizes []int) ([]*memfd.File, error) {
	c.window.starving()
	for {
		files, err := c.pool.get(ctx, sizes)
		if err == nil {
			c.window.fed()
			return files, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.stats.failed(err)
		c.log.Error("no memory for batches; it is asked for again", "err", err)
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// load reads a step's loads in the background, straight into its batch files.
// It waits while as many requests are under way as keep the storage busy.
func (c *Cache) load(ctx context.Context, s *step) error {
	weight := min(int64(len(s.loads)), maxRequests)
	if err := c.underWay.Acquire(ctx, weight); err != nil {
		return err
	}
	go func() {
		defer c.underWay.Release(weight)
		defer close(s.read)
		c.cfg.Ahead.Read(ctx, s.loads)
	}()
	return nil
}
