package cache

import (
	"context"
	"time"

	"solarfs/internal/memfd"
	"solarfs/planner"
)

// start takes memory for one step after the other and sets its reads off, from
// step t of the first epoch on. planned is what the plan has in the buffer when
// that epoch begins; it is start's from then on.
func (c *Cache) start(ctx context.Context, t int, planned *sampleSet, epochs <-chan *planner.Epoch, started chan<- *step) error {
	defer close(started)
	var held *sampleSet
	var room *riderRoom
	for ep := range epochs {
		if held == nil {
			held = c.keepPlanned(ep, t, planned)
			room = newRiderRoom(c.buffer.all, held.n)
		}
		for ; t < c.stepsPerEpoch; t++ {
			s, err := c.newStep(ctx, ep, t)
			if err != nil {
				return err
			}
			s.plan(ep, t, c.cfg.Node, held)
			c.window.add(s)
			if err := c.addRiders(ctx, s, ep.Riders(t, c.cfg.Node), room, held); err != nil {
				return err
			}
			if err := c.load(ctx, s); err != nil {
				return err
			}
			started <- s
		}
		t = 0
	}
	return nil
}

// newStep takes the memory of the batch files of step t of an epoch and writes
// their headers.
func (c *Cache) newStep(ctx context.Context, ep *planner.Epoch, t int) (*step, error) {
	s := &step{g: ep.Index*c.stepsPerEpoch + t, read: make(chan struct{})}
	var wants []want
	for local := range c.cfg.Spec.RanksPerNode {
		rows := ep.Rows(t, c.cfg.Node*c.cfg.Spec.RanksPerNode+local)
		var files []*batchFile
		for field, most := range c.largest {
			layout := c.Layout(field, rows)
			files = append(files, &batchFile{layout: layout, done: make(chan struct{})})
			wants = append(wants, want{int(layout.Size()), most})
		}
		s.files = append(s.files, files)
	}
	memory, err := c.memory(ctx, wants)
	if err != nil {
		return nil, err
	}
	for _, files := range s.files {
		for _, f := range files {
			f.file, memory = memory[0], memory[1:]
			copy(f.file.Data, f.layout.Header)
		}
	}
	return s, nil
}

// memory takes a step's memory files from the pool. When the system has none
// to give, it asks again: readers are served as strays meanwhile.
func (c *Cache) memory(ctx context.Context, wants []want) ([]*memfd.File, error) {
	c.window.starving()
	for {
		files, err := c.pool.get(ctx, wants)
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

// load reads a step's loads in the background, straight into its batch files,
// and its riders with them, so that a chunk that both need is read once. It waits while as many requests are under way as keep the storage busy.
func (c *Cache) load(ctx context.Context, s *step) error {
	weight := min(int64(len(s.reads)), maxRequests)
	if err := c.underWay.Acquire(ctx, weight); err != nil {
		return err
	}
	go func() {
		defer c.underWay.Release(weight)
		defer close(s.read)
		c.cfg.Ahead.Read(ctx, s.reads)
	}()
	return nil
}
