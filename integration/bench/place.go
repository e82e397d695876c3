package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"solarfs/integration/slowfs"
)

// The disk's bounds, and what a mount may use beside its --memory.
const (
	diskIOPS     = 500
	diskBytes    = 200e6
	besideMemory = 64 << 20
)

// slowLatency and the others are the slow store's speed: a network file system's.
const (
	slowLatency   = "2ms"
	slowBandwidth = "400MB"
	slowAtOnce    = "16"
)

// place is where systems run side by side: a storage, a data set, and the memory that all of them have.
type place struct {
	cell
	group  string
	file   string  // the data, through the storage
	source string  // the data as they lie on the machine's disk
	count  counter // nil: none, or the cgroup's
	share  float64 // the cgroup's memory is for so much of the set; 0: no cgroup
	disk   device
}

// places sets a cell's storage up. The caller closes it.
func (b *bench) places(ctx context.Context, c cell, source string) (places []place, close func() error, err error) {
	p := place{cell: c, file: source, source: source, group: c.storage + ", " + c.data.Text}
	switch c.storage {
	case slow:
		s, err := b.slowStore(ctx)
		if err != nil {
			return nil, nil, err
		}
		p.file, p.count = filepath.Join(s.point, filepath.Base(source)), slowCounter(s.point)
		return []place{p}, s.stop, nil
	case disk:
		places, err = b.diskPlaces(p)
		return places, func() error { return nil }, err
	}
	return []place{p}, func() error { return nil }, warmUp(source)
}

// slowStore shows the data's directory as slow storage. It goes first, as the storage of other machines would.
func (b *bench) slowStore(ctx context.Context) (*server, error) {
	name, args := b.program("slowfs"), []string{"--latency", slowLatency, "--bandwidth", slowBandwidth, "--at-once", slowAtOnce, b.cache}
	if os.Geteuid() == 0 {
		name, args = "nice", append([]string{"-n", "-20", name}, args...)
	}
	return b.serve(ctx, nil, "slowfs", name, func(point string) []string { return append(args, point) })
}

func slowCounter(point string) counter {
	return func() (c counts, err error) {
		text, err := os.ReadFile(filepath.Join(point, slowfs.ControlName))
		if err == nil {
			err = json.Unmarshal(text, &c)
		}
		return c, err
	}
}

// diskPlaces is one place for each share.
func (b *bench) diskPlaces(p place) (places []place, err error) {
	if p.disk, err = diskOf(p.source); err != nil {
		return nil, err
	}
	g, err := newCgroup(fmt.Sprintf("solarfs-bench-%d", os.Getpid()), 1<<30)
	if err != nil {
		return nil, err
	}
	if err := g.throttle(p.disk, diskIOPS, diskBytes); err != nil {
		g.remove()
		return nil, err
	}
	for _, share := range b.shares {
		at := p
		at.share = share
		at.group = fmt.Sprintf("%s, memory %.0f %%", p.group, 100*share)
		places = append(places, at)
	}
	return places, g.remove()
}

// warmUp reads a file into the page cache.
func warmUp(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(io.Discard, struct{ io.Reader }{f})
	return err
}

// memory is what solarfs gets for buffers of a share, in bytes: that share of the set. For the whole set a window and what a mount needs
// besides come on top.
func (d dataset) memory(share float64) int64 {
	if share < 1 {
		return int64(share * float64(d.bytes()))
	}
	return d.bytes() + 4*(d.batchBytes()+4096) + 64<<20 + 200*int64(d.Samples)
}

// within runs f in the place's cgroup, with own bytes more for the reader; without one where the place has none. Nothing of the data is in
// the page cache when a cgroup begins.
func (b *bench) within(p place, own int64, f func(g *cgroup, count counter) error) (memory int64, err error) {
	if p.share == 0 {
		return 0, f(nil, p.count)
	}
	if err := uncache(p.source); err != nil {
		return 0, err
	}
	memory = p.data.memory(p.share) + besideMemory + own
	g, err := newCgroup(fmt.Sprintf("solarfs-bench-%d", os.Getpid()), memory)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := g.remove(); err == nil {
			err = e
		}
	}()
	if err := f(g, g.counter(p.disk)); err != nil {
		return 0, fmt.Errorf("%w (in a memory cgroup of %d MiB)", err, memory>>20)
	}
	return memory, nil
}

// throttle bounds the disk, where there is a cgroup.
func (p place) throttle(g *cgroup) error {
	if g == nil {
		return nil
	}
	return g.throttle(p.disk, diskIOPS, diskBytes)
}

// own is what the DataLoader's reader takes by itself, with its workers and the batches that they have made.
func (b *bench) own(ctx context.Context, p place, workers int) (int64, error) {
	if p.share == 0 {
		return 0, nil
	}
	text, err := b.output(b.python(ctx, nil, "own.py"))
	if err != nil {
		return 0, err
	}
	one, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	return one + int64(workers)*one/2 + int64(2*workers+3)*p.data.batchBytes(), err
}
