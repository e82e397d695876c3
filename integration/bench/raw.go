package main

import (
	"bytes"
	"context"
	"fmt"
)

// random measures reads of the size of a sample, in an order without neighbours, so many at a time.
func (b *bench) random(ctx context.Context, p place, depth int) (Row, error) {
	r := Row{Group: p.group, Storage: p.storage, Data: p.data.Text, System: fmt.Sprintf("pread, random, depth %d", depth)}
	var m measurement
	var err error
	r.Memory, err = b.within(p, 0, func(g *cgroup, count counter) error {
		if err := p.throttle(g); err != nil {
			return err
		}
		// A short run tells how many a long one may read. It is long enough for what a throttled disk allows at once.
		short, err := b.preads(ctx, p, g, nil, depth, 200)
		if err != nil {
			return err
		}
		if g != nil {
			if err := uncache(p.source); err != nil {
				return err
			}
		}
		most := int(b.seconds / short.Seconds * float64(short.Samples))
		m, err = b.preads(ctx, p, g, count, depth, min(max(1, most), p.data.Samples))
		return err
	})
	if err != nil {
		return r, err
	}
	r = r.measured(p.data, m)
	r.Note = scaled(m)
	return r, nil
}

// preads runs the reading program, whose time begins with its first read.
func (b *bench) preads(ctx context.Context, p place, g *cgroup, count counter, depth, blocks int) (m measurement, err error) {
	if count == nil {
		count = func() (counts, error) { return counts{}, nil }
	}
	before, err := count()
	if err != nil {
		return m, err
	}
	var out, complaint bytes.Buffer
	cmd := b.command(ctx, g, b.program("reader"), p.file, fmt.Sprint(depth), fmt.Sprint(p.data.sampleBytes()), fmt.Sprint(blocks))
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return m, failed(cmd, err, complaint.String())
	}
	if _, err := fmt.Sscan(out.String(), &m.Seconds); err != nil {
		return m, fmt.Errorf("the reader printed %q: %w", out.String(), err)
	}
	after, err := count()
	m.Samples, m.cpu = blocks, (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds()
	m.counts, m.counted = counts{after.Requests - before.Requests, after.Bytes - before.Bytes}, after != counts{}
	if blocks >= p.data.Samples {
		m.Epochs = 1
	}
	return m, err
}

// sequential measures reading the file from its start.
func (b *bench) sequential(ctx context.Context, p place) (Row, error) {
	r := Row{Group: p.group, Storage: p.storage, Data: p.data.Text, System: "pread, sequential"}
	var m measurement
	var err error
	r.Memory, err = b.within(p, 0, func(g *cgroup, count counter) (err error) {
		if err := p.throttle(g); err != nil {
			return err
		}
		m, err = (&meter{count: count}).follow(b.job(ctx, g, "sequential.py", map[string]any{"file": p.file, "seconds": b.seconds, "samples": p.data.Samples}))
		return err
	})
	if err != nil {
		return r, err
	}
	r = r.measured(p.data, m)
	r.Note = scaled(m)
	return r, nil
}
