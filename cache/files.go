package cache

import (
	"context"
	"time"

	"solarfs/internal/memfd"
)

// placeFiles takes memory for the batch files of one planned step after the other, and hands the steps on to the commit.
func (c *Cache) placeFiles(ctx context.Context, planned <-chan *step, slots *slots, placed chan<- *step) error {
	defer close(placed)
	for s := range planned {
		files, err := c.makeFiles(ctx, s)
		if err != nil {
			return err
		}
		slots.place(s, files)
		c.window.add(s)
		placed <- s
	}
	return ctx.Err()
}

// makeFiles takes the memory of a step's batch files and writes their headers.
func (c *Cache) makeFiles(ctx context.Context, s *step) ([][]*batchFile, error) {
	var made [][]*batchFile
	var wants []want
	for local := range c.cfg.Spec.RanksPerNode {
		rows := s.ep.Rows(s.g%c.stepsPerEpoch, c.cfg.Node*c.cfg.Spec.RanksPerNode+local)
		var files []*batchFile
		for field, most := range c.largest {
			layout := c.Layout(field, rows)
			files = append(files, &batchFile{layout: layout, done: make(chan struct{})})
			wants = append(wants, want{int(layout.Size()), most})
		}
		made = append(made, files)
	}
	memory, err := c.memory(ctx, wants)
	if err != nil {
		return nil, err
	}
	for _, files := range made {
		for _, f := range files {
			f.file, memory = memory[0], memory[1:]
			copy(f.file.Data, f.layout.Header)
		}
	}
	return made, nil
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
