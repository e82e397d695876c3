package main

import (
	"context"
	"fmt"
)

// loaders measures the DataLoader with each number of workers and returns the best number.
func (b *bench) loaders(ctx context.Context, p place, workers []int) (best int) {
	fastest := 0.0
	for _, w := range workers {
		r := Row{System: fmt.Sprintf("DataLoader w%d", w), loader: w + 1}
		r, err := b.loader(ctx, p, r, w)
		if err == nil && r.SamplesPerSecond > fastest {
			best, fastest = w, r.SamplesPerSecond
		}
		b.row(r, err)
	}
	return best
}

// loader measures one DataLoader on the place's file. In a cgroup its first epoch is read whole, without the disk's bounds: what the page
// cache holds after it is the same, and it is not measured.
func (b *bench) loader(ctx context.Context, p place, r Row, workers int) (Row, error) {
	r.Group, r.Storage, r.Data, r.Share = p.group, p.storage, p.data.Text, p.share
	own, err := b.own(ctx, p, workers)
	if err != nil {
		return r, err
	}
	var m measurement
	r.Memory, err = b.within(p, own, func(g *cgroup, count counter) (err error) {
		first := 1
		if g != nil {
			first = 0
		}
		m, err = b.loaderIn(ctx, p, g, &meter{count: count, onMark: map[string]func() error{"first": func() error { return p.throttle(g) }}}, p.file, workers, first)
		return err
	})
	if err != nil {
		return r, err
	}
	r = r.measured(p.data, m)
	r.Note = scaled(m)
	return r, nil
}

func (b *bench) loaderIn(ctx context.Context, p place, g *cgroup, m *meter, file string, workers, first int) (measurement, error) {
	return m.follow(b.job(ctx, g, "loader.py", map[string]any{
		"file": file, "batch": p.data.Batch, "workers": workers, "first": first, "seconds": b.seconds, "epochs": 4 * b.epochs,
	}))
}

// scaled says of a row that it is of less than an epoch.
func scaled(m measurement) string {
	switch {
	case m.Epochs > 0:
		return ""
	case m.Batches > 0:
		return fmt.Sprintf("scaled from %d batches", m.Batches)
	}
	return "scaled from a part"
}
