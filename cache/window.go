package cache

import (
	"context"
	"errors"
	"sync"
	"time"
)

var errClosed = errors.New("the mount is ending")

// window is the steps whose batch files are being made or wait to be read, and
// how far each local rank has read.
//
// mu guards everything in it and the state of every batchFile. Invariants:
// every step in [lo, hi) has an entry; a step's entry goes when all its files
// are gone, lo first.
type window struct {
	span  int // steps that memory holds
	steps int // steps of the whole plan
	pool  *pool
	jump  chan int // asks the pipeline to go on from another step
	mu    struct {
		sync.Mutex
		lo, hi  int
		entries map[int]*step
		ranks   []rankPlace
		standing
		changed chan struct{} // closed and replaced when any of this moves
		err     error         // why nothing more will come
	}
}

func newWindow(span, steps, ranks int, p *pool) *window {
	w := &window{span: span, steps: steps, pool: p}
	w.mu.entries = map[int]*step{}
	w.mu.ranks = make([]rankPlace, ranks)
	w.beginLocked(0)
	w.mu.changed = make(chan struct{})
	w.jump = make(chan int, 1)
	return w
}

// open finds the batch file of a local rank at global step g, waiting until it
// is ready. It returns nil when the batch is not the window's to serve.
func (w *window) open(ctx context.Context, g, rank, field int) (*batchFile, error) {
	f, err := w.find(ctx, g, rank, field)
	if f == nil || err != nil {
		return nil, err
	}
	select {
	case <-f.done:
	case <-ctx.Done():
		w.forgo(f)
		return nil, ctx.Err()
	}
	w.mu.Lock()
	bad := f.state == failed
	w.mu.Unlock()
	if bad {
		w.release(f)
		return nil, nil
	}
	return f, nil
}

// find takes a reference to the batch file once its step is in the window. A
// reader ahead of the window waits: for the pipeline if that is at work, else
// as long as the window's patience lasts.
func (w *window) find(ctx context.Context, g, rank, field int) (*batchFile, error) {
	for {
		w.mu.Lock()
		if err := w.mu.err; err != nil {
			w.mu.Unlock()
			return nil, err
		}
		f, wait := w.takeLocked(g, rank, field)
		var patience time.Duration
		if wait {
			patience = w.patienceLocked(rank)
		}
		changed := w.mu.changed
		w.mu.Unlock()
		if patience == 0 {
			return f, nil
		}
		select {
		case <-changed:
		case <-time.After(patience):
		case <-ctx.Done():
			w.interrupted()
			return nil, ctx.Err()
		}
	}
}

// takeLocked is one try of find: the file, or whether waiting may bring it.
func (w *window) takeLocked(g, rank, field int) (f *batchFile, wait bool) {
	place := &w.mu.ranks[rank]
	if s := w.mu.entries[g]; s != nil && s.files[rank][field].state != gone {
		f = s.files[rank][field]
		f.opens++
		w.advanceLocked(place, g)
		return f, false
	}
	if g >= w.mu.hi && g < w.mu.hi+w.span && g < w.steps {
		w.advanceLocked(place, g)
		return nil, true
	}
	w.strayLocked(place, g)
	return nil, false
}

// add puts a started step at the window's end.
func (w *window) add(s *step) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.entries[s.g] = s
	w.mu.hi = s.g + 1
	w.mu.moved()
	w.moveLocked()
}

// made shows a step's files to the readers.
func (w *window) made(s *step, bad map[*batchFile]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, files := range s.files {
		for _, f := range files {
			f.state = ready
			if bad[f] {
				f.state = failed
			}
			close(f.done)
		}
	}
	w.discardLocked()
}

// forgo gives back the reference of a reader that has not read. What is made
// stays for the next one, what has failed need not.
func (w *window) forgo(f *batchFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.opens--
	if f.state == failed {
		w.retireLocked(f)
		w.moveLocked()
	}
}

// release gives one reference back; the last one ends the file.
func (w *window) release(f *batchFile) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f.opens--
	w.retireLocked(f)
	w.moveLocked()
}

// retireLocked gives a file's memory back if it is made and nobody has it open.
func (w *window) retireLocked(f *batchFile) {
	if f.opens > 0 || f.state == making || f.state == gone {
		return
	}
	f.state = gone
	w.pool.put(f.file, f.lent)
	f.file = nil
	w.mu.moved()
}

// moveLocked lets go of the steps at the window's start that are done with.
func (w *window) moveLocked() {
	for w.mu.lo < w.mu.hi && w.mu.entries[w.mu.lo].passed() {
		delete(w.mu.entries, w.mu.lo)
		w.mu.lo++
	}
	close(w.mu.changed)
	w.mu.changed = make(chan struct{})
}

// restart empties the window and lets it begin at step from. Readers that wait
// for a file of it go the stray way; open files stay until they are closed. The
// pipeline must have ended, since it writes into the files.
func (w *window) restart(from int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for g, s := range w.mu.entries {
		for _, files := range s.files {
			for _, f := range files {
				if f.state == making {
					close(f.done)
				}
				if f.state != gone {
					f.state = failed // whoever has it open or waits for it ends it
					w.retireLocked(f)
				}
			}
		}
		delete(w.mu.entries, g)
	}
	w.beginLocked(from)
	w.moveLocked()
}

// ended is why nothing is opened any more, or nil.
func (w *window) ended() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.err
}

// end makes every open fail with err from now on.
func (w *window) end(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.err == nil {
		w.mu.err = err
		w.moveLocked()
	}
}
