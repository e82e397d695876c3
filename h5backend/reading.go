package h5backend

import (
	"context"
	"errors"
	"os"
	"time"
)

// backoff is how long to wait before a failed read is tried again.
var backoff = []time.Duration{5 * time.Millisecond, 25 * time.Millisecond, 125 * time.Millisecond}

// reading reads pieces, all in one way, with one slot of a Reader.
type reading struct {
	ctx    context.Context
	reader *Reader
	slot   *scratch
	pieces []piece

	began time.Time
	spent spent
}

func (r *reading) run() {
	defer r.release()
	switch r.pieces[0].how {
	case wayDirect:
		r.direct()
	case wayDecode:
		r.decode()
	case wayLib:
		r.byLib()
	}
}

func (r *reading) release() {
	if r.spent.reads > 0 { // by libhdf5, none
		r.spent.held = time.Since(r.began)
		r.reader.meter.done(r.spent)
	}
	r.reader.slots.give(r.slot)
}

// again runs read until it succeeds, the retries are used up, the file is stale or ctx ends.
func (r *reading) again(file *sourceFile, read func() error) error {
	for i := 0; ; i++ {
		err := r.ctx.Err()
		if err != nil {
			return err
		}
		if err = read(); err == nil {
			return nil
		}
		if errors.Is(file.check(), ErrStale) {
			return ErrStale
		}
		if i == len(backoff) || errors.Is(err, os.ErrClosed) {
			return err
		}
		r.reader.set.stats.retries.Add(1)
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-time.After(backoff[i]):
		}
	}
}

// once calls read for each piece that is no repeat of the one before, and gives the repeats what that got.
func (r *reading) once(read func(p *piece)) {
	for i := range r.pieces {
		p := &r.pieces[i]
		if i == 0 || !p.again(&r.pieces[i-1]) {
			read(p)
			continue
		}
		if before := r.pieces[i-1].req; before.Err != nil {
			p.fail(errors.Unwrap(before.Err))
		} else {
			copy(p.req.Dst, before.Dst)
		}
	}
}

// direct reads neighbours into their destinations, in native order. If that fails, each is read by itself, so that only those
// fail whose own bytes are bad.
func (r *reading) direct() {
	err := r.together(func(p *piece) []byte { return p.req.Dst })
	r.once(func(p *piece) {
		if err != nil {
			if err := r.alone(p, p.req.Dst); err != nil {
				p.fail(err)
				return
			}
		}
		p.part.toNative(p.req.Dst)
	})
}

// together reads all pieces by one read, each where dst says; what lies between goes to the slot's junk.
func (r *reading) together(dst func(p *piece) []byte) error {
	if err := r.ctx.Err(); err != nil {
		return err
	}
	first := &r.pieces[0]
	end := first.at
	r.slot.bufs = r.slot.bufs[:0]
	for i := range r.pieces {
		p := &r.pieces[i]
		if i > 0 && p.again(&r.pieces[i-1]) {
			continue
		}
		r.slot.skip(int(p.at - end))
		r.slot.bufs = append(r.slot.bufs, dst(p))
		end = p.at + uint64(p.size)
	}
	err := r.read(first.part.file, first.at, int(end-first.at))
	if err != nil {
		r.reader.set.stats.retries.Add(1)
	}
	return err
}

// alone reads one piece, with retries.
func (r *reading) alone(p *piece, dst []byte) error {
	return r.again(p.part.file, func() error {
		r.slot.bufs = append(r.slot.bufs[:0], dst)
		return r.read(p.part.file, p.at, p.size)
	})
}

// read fills the slot's bufs by one counted read of the storage.
func (r *reading) read(file *sourceFile, at uint64, bytes int) error {
	start := time.Now()
	err := readFull(file.data, r.slot.bufs, int64(at))
	clear(r.slot.bufs) // no destination is kept alive
	r.spent.reads, r.spent.bytes, r.spent.failed = r.spent.reads+1, r.spent.bytes+bytes, r.spent.failed || err != nil
	r.spent.reading += r.reader.set.stats.read(bytes, start)
	return err
}

// byLib reads row after row, so that other goroutines get libhdf5 in between.
func (r *reading) byLib() {
	stats := &r.reader.set.stats
	r.once(func(p *piece) {
		err := r.again(p.part.file, func() error {
			start := time.Now()
			err := p.part.lib.read(p.row, p.size, p.req.Dst)
			stats.read(p.size, start)
			return err
		})
		if err != nil {
			p.fail(err)
		}
	})
}
