package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// python is the one that Debian's torch and h5py belong to.
const python = "/usr/bin/python3"

//go:embed testdata/*.py
var scripts embed.FS

// bench is one run of the benchmark.
type bench struct {
	options
	over    func() error // why no more is to be measured; nil: it is
	dir     string       // temporary: programs, scripts, mount points
	undo    []func() error
	rows    []Row
	skipped []string
}

// measure makes the rows. An error of one system is a skipped row; the error returned is one that ended the run.
func measure(ctx context.Context, o options) (rows []Row, skipped []string, err error) {
	b := &bench{options: o, over: ctx.Err}
	err = b.all(ctx)
	return b.rows, b.skipped, errors.Join(err, b.cleanUp())
}

func (b *bench) all(ctx context.Context) error {
	if err := b.prepare(ctx); err != nil {
		return err
	}
	for _, c := range b.cells {
		if err := b.cell(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// atEnd has something undone at the end, last first.
func (b *bench) atEnd(undo func() error) { b.undo = append(b.undo, undo) }

func (b *bench) cleanUp() error {
	var errs []error
	for _, undo := range slices.Backward(b.undo) {
		errs = append(errs, undo())
	}
	return errors.Join(errs...)
}

// prepare builds the programs and lays out the scripts.
func (b *bench) prepare(ctx context.Context) (err error) {
	if b.dir, err = os.MkdirTemp("", "solarfs-bench-"); err != nil {
		return err
	}
	b.atEnd(func() error { return os.RemoveAll(b.dir) })
	if err := os.CopyFS(b.dir, scripts); err != nil {
		return err
	}
	b.say("building")
	_, err = b.output(b.command(ctx, nil, "go", "build", "-o", b.dir+"/", "solarfs/cmd/solarfs", "solarfs/integration/slowfs/cmd/slowfs", "solarfs/integration/slowfs/testdata/reader"))
	if err != nil {
		return fmt.Errorf("build what is measured: %w; run this in the project's directory", err)
	}
	return nil
}

// program is the path of one that prepare has built.
func (b *bench) program(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}

// skip notes what cannot be measured.
func (b *bench) skip(what string, why error) {
	line := what + ": " + strings.ReplaceAll(strings.TrimSpace(why.Error()), "\n", "; ")
	b.say("skipped: %s", line)
	b.skipped = append(b.skipped, line)
}

// cell measures all systems on one storage and data set.
func (b *bench) cell(ctx context.Context, c cell) error {
	source, err := b.make(ctx, c.data)
	if err != nil {
		return fmt.Errorf("make data set %s: %w", c.data.Name, err)
	}
	places, closePlaces, err := b.places(ctx, c, source)
	if err != nil {
		b.skip(c.storage+", "+c.data.Text, err)
		return ctx.Err()
	}
	best := 0
	for i, p := range places {
		if best, err = b.place(ctx, p, i == 0, best); err != nil {
			break
		}
	}
	return errors.Join(err, closePlaces())
}

// place measures all systems in one place. Only the first of a cell tries every number of workers.
func (b *bench) place(ctx context.Context, p place, first bool, best int) (int, error) {
	if b.wants(loader) {
		workers := b.workers
		if !first {
			workers = slices.Compact([]int{0, best})
		}
		best = b.loaders(ctx, p, workers)
	}
	if b.wantsRclone(p) {
		b.row(b.rclone(ctx, p, best))
	}
	if b.wants(raw) && first && p.data.Chunk == 0 {
		for _, depth := range []int{1, 16} {
			b.row(b.random(ctx, p, depth))
		}
		b.row(b.sequential(ctx, p))
	}
	if b.wants(ourSystem) {
		b.solarfsRows(ctx, p)
	}
	return best, ctx.Err()
}

// row keeps a row, or says why there is none.
func (b *bench) row(r Row, err error) {
	if b.over() != nil {
		return
	}
	if err != nil {
		b.skip(r.Group+", "+r.System, err)
		return
	}
	b.say("%s, %s: %.0f samples/s", r.Group, r.System, r.SamplesPerSecond)
	b.rows = append(b.rows, r)
}
