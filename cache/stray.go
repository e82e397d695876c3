package cache

import (
	"context"

	"solarfs/h5backend"
)

// strayPart is one sample's piece of a stray read: where it goes and what of
// the sample's field it is.
type strayPart struct {
	dst    []byte
	sample uint32
	from   int // first byte of the field's value
}

// readStray fills dst with the file's bytes from off on, for a batch that the
// window does not hold, and returns how many there were.
func (h *Handle) readStray(ctx context.Context, dst []byte, off int64) (int, error) {
	header, parts := h.layout.Cut(off, len(dst))
	n := copy(dst, header)
	var missing []strayPart
	for _, p := range parts {
		part := strayPart{dst: dst[n : n+p.To-p.From], sample: h.samples[p.Row], from: p.From}
		n += p.To - p.From
		if !h.c.copyKnown(part, h.id.Field) {
			missing = append(missing, part)
		}
	}
	if h.c.cfg.Fields[h.id.Field].Bytes > largeValue {
		return n, h.readLarge(ctx, missing)
	}
	return n, h.c.readMissing(ctx, missing, h.id.Field)
}

// strayKey names a field of a sample in ristretto.
func (c *Cache) strayKey(sample uint32, field int) uint64 {
	return uint64(sample)*uint64(len(c.cfg.Fields)) + uint64(field)
}

// copyKnown copies the part from the buffer or from ristretto.
func (c *Cache) copyKnown(p strayPart, field int) bool {
	if c.buffer.copyOut(p.dst, p.sample, field, p.from) {
		return true
	}
	value, ok := c.recent.Get(c.strayKey(p.sample, field))
	if ok {
		copy(p.dst, value[p.from:])
	}
	return ok
}

// readMissing reads samples that no memory holds, a share of the foreground's
// memory at a time, and offers them to ristretto, which may drop them.
func (c *Cache) readMissing(ctx context.Context, parts []strayPart, field int) error {
	size := c.cfg.Fields[field].Bytes
	together := max(1, int(c.strays.transient)/4/size)
	for len(parts) > 0 {
		now := parts[:min(together, len(parts))]
		parts = parts[len(now):]
		if err := c.readNow(ctx, now, field); err != nil {
			return err
		}
	}
	return nil
}

func (c *Cache) readNow(ctx context.Context, parts []strayPart, field int) error {
	size := c.cfg.Fields[field].Bytes
	done, err := c.strays.take(ctx, int64(len(parts)*size))
	if err != nil {
		return err
	}
	defer done()
	reads := make([]h5backend.Request, len(parts))
	for i, p := range parts {
		reads[i] = h5backend.Request{Field: field, Sample: p.sample, Dst: make([]byte, size)}
	}
	c.cfg.Now.Read(ctx, reads)
	c.stats.strayReads.Add(int64(len(parts)))
	for i, r := range reads {
		if r.Err != nil {
			return r.Err
		}
		copy(parts[i].dst, r.Dst[parts[i].from:])
		c.recent.Set(c.strayKey(r.Sample, field), r.Dst, int64(size+recentOverhead))
	}
	return nil
}
