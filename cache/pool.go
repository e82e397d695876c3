package cache

import (
	"context"
	"sync"
	"time"

	"solarfs/internal/memfd"
)

// pool hands out memory files and takes them back, under one limit in bytes.
// A file that comes back is used again, since copying into pages that exist is
// several times faster than into fresh ones. Files of one class may have up to
// the same size, and take the size that is wanted: batches of uneven size use
// each other's pages.
//
// A file that was lent to the kernel and looks used when it comes back waits in
// limbo: the kernel lets go of it a moment after it says so. One that still
// looks used after limboTime is mapped by its reader, and is given up: its pages
// are the reader's from then on.
//
// mu guards the counts and lists. Invariant: held is the cost of all files that
// exist, handed out, in limbo or free, and held <= limit.
type pool struct {
	limit int64
	least int64 // what the smallest file costs, so that descriptors last
	mu    struct {
		sync.Mutex
		held    int64
		made    int64                 // files ever made
		out     map[int]int           // files handed out, by class
		free    map[int][]*memfd.File // by class
		limbo   []inLimbo             // oldest first
		changed chan struct{}         // closed and replaced when a file comes back
		closed  bool
	}
}

// want is a file that somebody needs: its size, and its class, the most that
// files like it have.
type want struct{ size, most int }

// class is the most bytes that a file may have.
func class(f *memfd.File) int { return cap(f.Data) }

func newPool(limit int64) *pool {
	p := &pool{limit: limit, least: limit / maxFiles()}
	p.mu.out, p.mu.free = map[int]int{}, map[int][]*memfd.File{}
	p.mu.changed = make(chan struct{})
	return p
}

// get returns the files that are wanted, of unspecified content, all or none,
// waiting for memory until ctx ends.
func (p *pool) get(ctx context.Context, wants []want) ([]*memfd.File, error) {
	for {
		files, changed, err := p.tryGet(wants)
		if files != nil || err != nil {
			return files, err
		}
		select {
		case <-changed:
		case <-p.limboMoves():
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

func (p *pool) tryGet(wants []want) ([]*memfd.File, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweepLocked()
	if !p.roomLocked(wants) {
		return nil, p.mu.changed, nil
	}
	var files []*memfd.File
	for _, w := range wants {
		f, err := p.takeLocked(w)
		if err != nil {
			for _, f := range files {
				p.mu.out[class(f)]--
				p.closeLocked(f)
			}
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, nil, nil
}

// roomLocked makes room for what is wanted beyond the free files that takeLocked
// will use. Free files of other classes give way; those of a wanted class only
// if the class that is missing has no file that could come back, for taking
// turns at dropping and making would cost what using again saves.
func (p *pool) roomLocked(wants []want) bool {
	need := map[int]int{}
	over, comesBack := p.mu.held-p.limit, false
	for _, w := range wants {
		over += p.cost(w.size)
		need[w.most]++
		if last := len(p.mu.free[w.most]) - need[w.most]; last >= 0 {
			over -= p.cost(len(p.mu.free[w.most][last].Data))
		} else {
			comesBack = comesBack || p.mu.out[w.most] > 0 || len(p.mu.limbo) > 0
		}
	}
	for most, free := range p.mu.free {
		for spare := len(free) - need[most]; spare > 0 && over > 0 && (need[most] == 0 || !comesBack); spare-- {
			over -= p.dropLocked(most)
		}
	}
	return over <= 0
}

// takeLocked uses the last free file of the class, or makes one.
func (p *pool) takeLocked(w want) (f *memfd.File, err error) {
	if last := len(p.mu.free[w.most]) - 1; last >= 0 {
		f = p.mu.free[w.most][last]
		before := p.cost(len(f.Data))
		if err := f.Resize(w.size); err != nil {
			return nil, err
		}
		p.mu.held += p.cost(w.size) - before
		p.mu.free[w.most] = p.mu.free[w.most][:last]
	} else if f, err = memfd.New(w.size, w.most); err != nil {
		return nil, err
	} else {
		p.mu.held += p.cost(w.size)
		p.mu.made++
	}
	p.mu.out[w.most]++
	return f, nil
}

// dropLocked gives the pages of the free file that has waited longest back to
// the system, and returns what it cost.
func (p *pool) dropLocked(most int) int64 {
	f := p.mu.free[most][0]
	p.mu.free[most] = p.mu.free[most][1:]
	return p.closeLocked(f)
}

func (p *pool) closeLocked(f *memfd.File) int64 {
	cost := p.cost(len(f.Data))
	f.Close()
	p.mu.held -= cost
	return cost
}

// put takes f back. lent says that the kernel had it.
func (p *pool) put(f *memfd.File, lent bool) {
	looksUsed := lent && !f.Unused()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.out[class(f)]--
	if looksUsed && !p.mu.closed {
		p.mu.limbo = append(p.mu.limbo, inLimbo{f, time.Now()})
	} else {
		p.freeLocked(f, !looksUsed)
	}
	close(p.mu.changed)
	p.mu.changed = make(chan struct{})
}

// freeLocked keeps f for the next who needs one of its class, or gives it up.
func (p *pool) freeLocked(f *memfd.File, reuse bool) {
	if !reuse || p.mu.closed {
		p.closeLocked(f)
		return
	}
	p.mu.free[class(f)] = append(p.mu.free[class(f)], f)
}

// use is the memory of all files that exist, and how many were ever made.
func (p *pool) use() (held, made int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.held, p.mu.made
}

// close gives back the free files, and from now on each file that is put.
func (p *pool) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.closed = true
	for _, l := range p.mu.limbo {
		p.freeLocked(l.file, false)
	}
	p.mu.limbo = nil
	for most, free := range p.mu.free {
		for range free {
			p.dropLocked(most)
		}
	}
}
