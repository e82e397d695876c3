package h5backend

import (
	"context"
	"errors"
	"os"
	"time"
)

// backoff is how long to wait before a failed read is tried again.
var backoff = []time.Duration{5 * time.Millisecond, 25 * time.Millisecond, 125 * time.Millisecond}

// reading runs jobs with one slot of a Reader.
type reading struct {
	ctx  context.Context
	set  *Set
	slot *scratch
}

func (r *reading) run(j job) {
	switch j.how {
	case wayDirect:
		r.direct(j)
	case wayDecode:
		r.decode(j)
	case wayLib:
		r.byLib(j)
	}
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
		r.set.stats.retries.Add(1)
		select {
		case <-r.ctx.Done():
			return r.ctx.Err()
		case <-time.After(backoff[i]):
		}
	}
}

// direct reads a run of neighbours into their destinations. If that fails, each is read by itself, so that only those
// fail whose own bytes are bad.
func (r *reading) direct(j job) {
	var bufs [][]byte
	for i := range j.pieces {
		if !j.repeats(i) {
			bufs = append(bufs, j.pieces[i].req.Dst)
		}
	}
	first := j.pieces[0]
	err := r.ctx.Err()
	if err == nil {
		err = r.preadv(first.part.file, bufs, first.at)
	}
	if err != nil {
		r.set.stats.retries.Add(1)
		r.singly(j)
	}
	r.finish(j)
}

// repeats tells whether piece i asks for the same bytes as the one before.
func (j job) repeats(i int) bool {
	return i > 0 && j.pieces[i].at == j.pieces[i-1].at && j.pieces[i].part == j.pieces[i-1].part
}

func (r *reading) singly(j job) {
	for i := range j.pieces {
		p := &j.pieces[i]
		if j.repeats(i) {
			continue
		}
		err := r.again(p.part.file, func() error { return r.preadv(p.part.file, [][]byte{p.req.Dst}, p.at) })
		if err != nil {
			p.fail(err)
		}
	}
}

// finish brings values into native order and serves the repeats.
func (r *reading) finish(j job) {
	for i := range j.pieces {
		p := &j.pieces[i]
		if !j.repeats(i) {
			if p.req.Err == nil {
				p.part.toNative(p.req.Dst)
			}
			continue
		}
		if before := j.pieces[i-1].req; before.Err != nil {
			p.fail(errors.Unwrap(before.Err))
		} else {
			copy(p.req.Dst, before.Dst)
		}
	}
}

// preadv is one counted read of the storage. It keeps bufs.
func (r *reading) preadv(file *sourceFile, bufs [][]byte, at uint64) error {
	start, bytes := time.Now(), 0
	r.slot.bufs = append(r.slot.bufs[:0], bufs...)
	for _, b := range bufs {
		bytes += len(b)
	}
	err := readFull(file.data, r.slot.bufs, int64(at))
	clear(r.slot.bufs) // no destination is kept alive
	r.set.stats.read(bytes, start)
	return err
}

// decode reads one chunk and copies every row that is asked for.
func (r *reading) decode(j job) {
	p := j.pieces[0].part
	var data []byte
	var shuffled bool
	err := r.again(p.file, func() (err error) {
		data, shuffled, err = p.loadChunk(r.slot, int(j.pieces[0].at), func(dst []byte, off uint64) error {
			return r.preadv(p.file, [][]byte{dst}, off)
		})
		return err
	})
	if err != nil {
		j.fail(err)
		return
	}
	for _, piece := range j.pieces {
		p.extract(piece.req.Dst, data, piece.row%p.chunkRows, shuffled)
	}
}

// byLib reads row after row, so that other goroutines get libhdf5 in between.
func (r *reading) byLib(j job) {
	for i := range j.pieces {
		p := &j.pieces[i]
		err := r.again(p.part.file, func() error {
			start := time.Now()
			err := p.part.lib.read(p.row, p.part.bytes, p.req.Dst)
			r.set.stats.read(p.part.bytes, start)
			return err
		})
		if err != nil {
			p.fail(err)
		}
	}
}
