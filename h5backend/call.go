package h5backend

import (
	"context"
	"sync"
	"time"
)

// call is one Read under way. Its workers, as many as the Reader's depth at the most, cut runs off its pieces as slots come free, so
// that each has the gap that is right by then.
type call struct {
	ctx     context.Context
	reader  *Reader
	running sync.WaitGroup // the workers but the caller

	mu      sync.Mutex
	pieces  []piece // that no worker has taken
	workers int
}

// read reads the pieces, of which there must be some.
func (r *Reader) read(ctx context.Context, pieces []piece) {
	c := &call{ctx: ctx, reader: r, pieces: pieces, workers: 1}
	r.meter.wait(1)
	c.work()
	c.running.Wait()
}

// work reads runs until all are taken.
func (c *call) work() {
	one := reading{ctx: c.ctx, reader: c.reader}
	for c.left() {
		slot, err := c.reader.slots.take(c.ctx)
		if err != nil {
			failAll(c.take(all), err)
			return
		}
		if one.pieces = c.take(c.cut); len(one.pieces) == 0 {
			c.reader.slots.give(slot)
			return
		}
		one.slot, one.began, one.spent = slot, time.Now(), spent{}
		one.run()
	}
}

func (c *call) left() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.pieces) > 0
}

// take takes as many of the pieces as count says; while there are more, there may be another worker.
func (c *call) take(count func([]piece) int) []piece {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.pieces) == 0 {
		return nil
	}
	n := count(c.pieces)
	taken := c.pieces[:n]
	c.pieces = c.pieces[n:]
	switch {
	case len(c.pieces) == 0:
		c.reader.meter.wait(-1)
	case c.workers < c.reader.Depth():
		c.workers++
		c.running.Go(c.work)
	}
	return taken
}

func (c *call) cut(pieces []piece) int { return run(pieces, c.reader.Gap()) }

func all(pieces []piece) int { return len(pieces) }
