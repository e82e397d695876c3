package cache

import (
	"context"
	"time"

	"solarfs/batchfile"
	"solarfs/internal/memfd"
)

// BatchID names one batch file. Rank counts over all nodes.
type BatchID struct {
	Epoch, Step, Rank, Field int
}

// Handle is an open batch file.
type Handle struct {
	c       *Cache
	id      BatchID
	layout  batchfile.Layout
	made    *batchFile // nil: a stray
	samples []uint32   // of a stray, row by row
	large   largeStray
}

// Open finds a batch file, waiting until it is made. It fails only when ctx
// ends, when the plan cannot be followed any more, or when the source has
// changed (ErrStale); what else cannot be read from storage fails in ReadAt.
func (c *Cache) Open(ctx context.Context, id BatchID) (*Handle, error) {
	began := time.Now()
	defer func() {
		took := time.Since(began)
		c.stats.opens.Observe(took)
		c.stats.stalled(id.Epoch, took) // also while an epoch is planned for a stray
	}()
	local := id.Rank - c.cfg.Node*c.cfg.Spec.RanksPerNode
	if local >= 0 && local < c.cfg.Spec.RanksPerNode {
		made, err := c.window.open(ctx, id.Epoch*c.stepsPerEpoch+id.Step, local, id.Field)
		if err != nil {
			return nil, err
		}
		if made != nil {
			return &Handle{c: c, id: id, layout: made.layout, made: made}, nil
		}
	}
	if err := c.window.ended(); err != nil {
		return nil, err
	}
	ep, err := c.epochs.get(ctx, id.Epoch)
	if err != nil {
		return nil, err
	}
	c.stats.strays.Add(1)
	samples, _ := ep.Batch(id.Step, id.Rank)
	return &Handle{c: c, id: id, layout: c.Layout(id.Field, len(samples)), samples: samples}, nil
}

// Lend returns the memory file behind the batch, for the kernel to read by
// itself, or nil for a stray. After it the file is used again only when nobody
// has it open or mapped.
func (h *Handle) Lend() *memfd.File {
	if h.made == nil {
		return nil
	}
	h.c.window.mu.Lock()
	defer h.c.window.mu.Unlock()
	h.made.lent = true
	h.c.stats.served.Add(h.layout.Size())
	return h.made.file
}

// Bytes returns the file's bytes in [off, off+n), clipped to the file, valid
// until Close; nil for a stray.
func (h *Handle) Bytes(off int64, n int) []byte {
	if h.made == nil {
		return nil
	}
	data := h.made.file.Data
	off = min(off, int64(len(data)))
	data = data[off:min(off+int64(n), int64(len(data)))]
	h.c.stats.served.Add(int64(len(data)))
	return data
}

// ReadAt reads a stray's bytes: from the buffer, from memory of recent reads,
// or from storage. The error is storage's.
func (h *Handle) ReadAt(ctx context.Context, dst []byte, off int64) (int, error) {
	began := time.Now()
	n, err := h.readStray(ctx, dst, off)
	h.c.stats.stalled(h.id.Epoch, time.Since(began))
	if err != nil {
		if ctx.Err() == nil {
			h.c.failed(err)
			h.c.log.Error("a read failed", "epoch", h.id.Epoch, "step", h.id.Step, "rank", h.id.Rank, "err", err)
		}
		return 0, err
	}
	h.c.stats.served.Add(int64(n))
	return n, nil
}

// Close gives the batch back.
func (h *Handle) Close() {
	if h.made != nil {
		h.c.window.release(h.made)
	}
	h.dropLarge()
}
