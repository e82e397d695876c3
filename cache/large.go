package cache

import (
	"context"
	"fmt"
	"sync"

	"golang.org/x/sync/semaphore"
	"golang.org/x/sys/unix"

	"solarfs/h5backend"
)

// largeValue is from where on a value is more than the kernel asks for at once.
// Reading it anew for each of its pieces would multiply the storage's work, and
// Go's heap is no place for it: garbage of that size outgrows any limit.
const largeValue = 1 << 20

// strayMemory divides what reads out of order may use, in bytes: a quarter for
// ristretto, a quarter for large values that open files keep between the reads
// of their pieces, half for what is being read. Nobody waits for the second,
// so a file that stays open holds up none.
type strayMemory struct {
	recent, keep, transient int64
	kept, reading           *semaphore.Weighted
}

func newStrayMemory(bytes int64) *strayMemory {
	m := &strayMemory{recent: max(bytes/4, 1), keep: max(bytes/4, 1), transient: max(bytes/2, 1)}
	m.kept, m.reading = semaphore.NewWeighted(m.keep), semaphore.NewWeighted(m.transient)
	return m
}

// take waits for n bytes, or for all there are if that is less.
func (m *strayMemory) take(ctx context.Context, n int64) (done func(), err error) {
	n = min(n, m.transient)
	if err := m.reading.Acquire(ctx, n); err != nil {
		return nil, err
	}
	return func() { m.reading.Release(n) }, nil
}

// largeStray is the one large value that an open stray has in memory. Its lock
// is held while the value is read: the file's other readers want the same one.
type largeStray struct {
	sync.Mutex
	data   []byte // outside the Go heap; nil: none
	sample int64  // whose value it is; -1: nobody's
	free   func() // gives data back
}

// readLarge reads parts of large values, one value at a time. Readers of one
// file take turns: they want the same value.
func (h *Handle) readLarge(ctx context.Context, parts []strayPart) error {
	h.large.Lock()
	defer h.large.Unlock()
	for _, p := range parts {
		if h.large.data == nil || h.large.sample != int64(p.sample) {
			done, err := h.fetchLarge(ctx, p.sample)
			if err != nil {
				return err
			}
			defer done()
		}
		copy(p.dst, h.large.data[p.from:])
	}
	return nil
}

// fetchLarge reads a value into the file's own memory if there is some to keep,
// else into memory that done gives back.
func (h *Handle) fetchLarge(ctx context.Context, sample uint32) (done func(), err error) {
	size := h.c.cfg.Fields[h.id.Field].Bytes
	done = func() {}
	if h.large.data == nil {
		back := func() { h.c.strays.kept.Release(int64(size)) }
		keeps := h.c.strays.kept.TryAcquire(int64(size))
		if !keeps {
			if back, err = h.c.strays.take(ctx, int64(size)); err != nil {
				return nil, err
			}
		}
		data, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
		if err != nil {
			back()
			return nil, fmt.Errorf("memory for a value of %d bytes: %w", size, err)
		}
		h.large.data = data
		h.large.free = func() {
			unix.Munmap(data)
			h.large.data = nil
			back()
		}
		if !keeps {
			done = h.large.free
		}
	}
	h.large.sample = -1
	reads := []h5backend.Request{{Field: h.id.Field, Sample: sample, Dst: h.large.data}}
	h.c.cfg.Now.Read(ctx, reads)
	h.c.stats.strayReads.Add(1)
	if err := reads[0].Err; err != nil {
		done()
		return nil, err
	}
	h.large.sample = int64(sample)
	return done, nil
}

// dropLarge gives back what the file has kept.
func (h *Handle) dropLarge() {
	h.large.Lock()
	defer h.large.Unlock()
	if h.large.data != nil {
		h.large.free()
	}
}
