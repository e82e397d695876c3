package cache

import (
	"context"
	"sync"
	"time"

	"solarfs/internal/memfd"
)

// pool hands out memory files and takes them back, under one limit in bytes.
// A file that comes back is used again, since copying into pages that exist is
// several times faster than into fresh ones.
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
		out     map[int]int           // files handed out, by size
		free    map[int][]*memfd.File // by size
		limbo   []inLimbo             // oldest first
		changed chan struct{}         // closed and replaced when a file comes back
		closed  bool
	}
}

func newPool(limit int64) *pool {
	p := &pool{limit: limit, least: limit / maxFiles()}
	p.mu.out, p.mu.free = map[int]int{}, map[int][]*memfd.File{}
	p.mu.changed = make(chan struct{})
	return p
}

// get returns files of the given sizes, of unspecified content, all or none,
// waiting for memory until ctx ends.
func (p *pool) get(ctx context.Context, sizes []int) ([]*memfd.File, error) {
	for {
		files, changed, err := p.tryGet(sizes)
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

func (p *pool) tryGet(sizes []int) ([]*memfd.File, <-chan struct{}, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweepLocked()
	need := map[int]int{}
	for _, size := range sizes {
		need[size]++
	}
	if !p.roomLocked(need) {
		return nil, p.mu.changed, nil
	}
	var files []*memfd.File
	for _, size := range sizes {
		f, err := p.takeLocked(size)
		if err != nil {
			for _, f := range files {
				p.mu.out[len(f.Data)]--
				p.freeLocked(f, true)
			}
			return nil, nil, err
		}
		files = append(files, f)
	}
	return files, nil, nil
}

// roomLocked makes room for what the free files do not cover of need. Free
// files of other sizes give way; those of a needed size only if the size that
// is missing has no file that could come back, for taking turns at dropping
// and making would cost what using again saves.
func (p *pool) roomLocked(need map[int]int) bool {
	missing, comesBack := int64(0), false
	for size, n := range need {
		if lack := n - len(p.mu.free[size]); lack > 0 {
			missing += int64(lack) * p.cost(size)
			comesBack = comesBack || p.mu.out[size] > 0 || len(p.mu.limbo) > 0
		}
	}
	over := p.mu.held + missing - p.limit
	for size, free := range p.mu.free {
		for spare := len(free) - need[size]; spare > 0 && over > 0 && (need[size] == 0 || !comesBack); spare-- {
			p.dropLocked(size)
			over -= p.cost(size)
		}
	}
	return over <= 0
}

func (p *pool) takeLocked(size int) (f *memfd.File, err error) {
	if free := p.mu.free[size]; len(free) > 0 {
		f, p.mu.free[size] = free[len(free)-1], free[:len(free)-1]
	} else if f, err = memfd.New(size); err != nil {
		return nil, err
	} else {
		p.mu.held += p.cost(size)
		p.mu.made++
	}
	p.mu.out[size]++
	return f, nil
}

// dropLocked gives the pages of one free file back to the system.
func (p *pool) dropLocked(size int) {
	free := p.mu.free[size]
	free[len(free)-1].Close()
	p.mu.free[size] = free[:len(free)-1]
	p.mu.held -= p.cost(size)
}

// put takes f back. lent says that the kernel had it.
func (p *pool) put(f *memfd.File, lent bool) {
	looksUsed := lent && !f.Unused()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.out[len(f.Data)]--
	if looksUsed && !p.mu.closed {
		p.mu.limbo = append(p.mu.limbo, inLimbo{f, time.Now()})
	} else {
		p.freeLocked(f, !looksUsed)
	}
	close(p.mu.changed)
	p.mu.changed = make(chan struct{})
}

// freeLocked keeps f for the next who needs one of its size, or gives it up.
func (p *pool) freeLocked(f *memfd.File, reuse bool) {
	size := len(f.Data)
	p.mu.free[size] = append(p.mu.free[size], f)
	if !reuse || p.mu.closed {
		p.dropLocked(size)
	}
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
	for size, free := range p.mu.free {
		for range len(free) {
			p.dropLocked(size)
		}
	}
}
