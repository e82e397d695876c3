package h5backend

import (
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Speed is what storage gave to a probe's reads.
type Speed struct {
	Latency   time.Duration // of one read after the other, the median
	Rate      float64       // reads a second, as many at once as the probe's depth
	Bandwidth float64       // bytes a second
	Cached    bool          // O_DIRECT was refused, so the page cache may have answered
}

// The bounds of a probe, in all tries, and no read begins after its try's time.
const (
	probeReads   = 32 // one after the other
	probeBytes   = 24 << 20
	probeStretch = 32 << 20
	probeTries   = 3                     // whatever else the machine does makes storage look slower, never faster: the best counts
	probeTime    = 80 * time.Millisecond // of each try
	probeFiles   = 8
	leastProbe   = 4 << 20 // smaller data tell nothing about storage
	sector       = 4096    // O_DIRECT wants offsets, sizes and memory in multiples of it
)

// Probe measures the storage by reading the files' bytes: samples' sizes here and there, one at a time and depth at once, and one stretch
// in order. It takes about half a second, or a little more where single reads take that long. The same places are read each time.
func (s *Set) Probe(depth int) (Speed, error) {
	files, err := openProbe(s.probed(), unix.O_DIRECT)
	cached := false
	if errors.Is(err, unix.EINVAL) {
		cached = true
		files, err = openProbe(s.probed(), 0)
	}
	if err != nil {
		return Speed{}, fmt.Errorf("measure the storage: %w", err)
	}
	defer files.close()
	p := probe{sizes: files.sizes, read: files.read, piece: s.probePiece()}
	speed, err := p.run(max(depth, 1))
	if err != nil {
		return Speed{}, fmt.Errorf("measure the storage: %w", err)
	}
	speed.Cached = cached
	return speed, nil
}

// probed are the files to be read: some of many, evenly.
func (s *Set) probed() (paths []string) {
	n := min(len(s.files), probeFiles)
	for i := range n {
		paths = append(paths, s.files[i*len(s.files)/n].src.path)
	}
	return paths
}

// probePiece is how much a read takes: what most bytes are read in, within bounds, in whole sectors.
func (s *Set) probePiece() int {
	var largest int64
	for _, u := range s.Units() {
		largest = max(largest, u.Bytes)
	}
	return int(min(max(largest, sector), 256<<10)+sector-1) / sector * sector
}

// probe reads places of files of those sizes.
type probe struct {
	sizes []int64
	read  func(file int, b []byte, at int64) (int, error)
	piece int
	next  atomic.Int64 // number of the next place
}

func (p *probe) run(depth int) (s Speed, err error) {
	total := int64(0)
	for _, size := range p.sizes {
		total += size
	}
	if total < leastProbe {
		return s, fmt.Errorf("the files have %d bytes, too few for it", total)
	}
	const stretchRead, stretchDepth = 1 << 20, 4
	memory, err := unix.Mmap(-1, 0, max(depth*p.piece, stretchDepth*stretchRead), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return s, err
	}
	defer unix.Munmap(memory)
	here := func(b []byte, _ int) (int, error) { return p.somewhere(b, total) }
	single, err := p.part(memory, p.piece, 1, probeReads, here)
	if err != nil {
		return s, err
	}
	many, err := best(func(int) (reads, error) {
		return p.part(memory, p.piece, depth, max(depth, probeBytes/probeTries/p.piece), here)
	})
	if err != nil {
		return s, err
	}
	largest := slices.Index(p.sizes, slices.Max(p.sizes))
	stretches := int(max(1, min(probeStretch, p.sizes[largest])/stretchRead))
	stretch, err := best(func(try int) (reads, error) {
		part := max(1, stretches/probeTries)
		return p.part(memory, stretchRead, stretchDepth, part, func(b []byte, i int) (int, error) {
			return p.at(largest, b, int64(try*part+i)%int64(stretches)*stretchRead)
		})
	})
	if err != nil {
		return s, err
	}
	slices.Sort(single.times)
	return Speed{
		Latency: single.times[len(single.times)/2], Rate: float64(len(many.times)) / many.seconds,
		Bandwidth: max(many.bytes/many.seconds, stretch.bytes/stretch.seconds),
	}, nil
}

// best is the try that read most in a second.
func best(try func(i int) (reads, error)) (all reads, err error) {
	began := time.Now()
	for i := 0; i < probeTries && time.Since(began) < probeTries*probeTime; i++ {
		r, err := try(i)
		if err != nil {
			return r, err
		}
		if i == 0 || r.bytes/r.seconds > all.bytes/all.seconds {
			all = r
		}
	}
	return all, nil
}

// somewhere reads the next place of a sequence that is spread evenly (multiples of the golden ratio, modulo 1).
func (p *probe) somewhere(b []byte, total int64) (int, error) {
	_, part := math.Modf(float64(p.next.Add(1)) * (math.Phi - 1))
	at := int64(part * float64(total))
	file := 0
	for at >= p.sizes[file] {
		at -= p.sizes[file]
		file++
	}
	return p.at(file, b, at)
}

// at reads b from about that offset, less at the file's end.
func (p *probe) at(file int, b []byte, at int64) (int, error) {
	at = max(0, min(at, p.sizes[file]-int64(len(b)))) / sector * sector
	return p.read(file, b, at)
}

// reads is what one part of a probe has read.
type reads struct {
	times   []time.Duration
	bytes   float64
	seconds float64
}

// part calls read up to most times, depth at once, each with its number and own memory of size bytes, and begins none after probeTime.
func (p *probe) part(memory []byte, size, depth, most int, read func(b []byte, i int) (int, error)) (all reads, err error) {
	var (
		mu      sync.Mutex
		next    atomic.Int64
		running sync.WaitGroup
		began   = time.Now()
	)
	for worker := range depth {
		running.Go(func() {
			b := memory[worker*size:][:size]
			for i := int(next.Add(1)) - 1; i < most && (i == 0 || time.Since(began) < probeTime); i = int(next.Add(1)) - 1 {
				start := time.Now()
				n, readErr := read(b, i)
				mu.Lock()
				all.times, all.bytes = append(all.times, time.Since(start)), all.bytes+float64(n)
				err = errors.Join(err, readErr)
				mu.Unlock()
				if readErr != nil {
					return
				}
			}
		})
	}
	running.Wait()
	all.seconds = max(time.Since(began), time.Microsecond).Seconds()
	return all, err
}

// probing are files open for a probe.
type probing struct {
	files []*os.File
	sizes []int64
	plain bool // without O_DIRECT
}

// openProbe opens them, and reads a little of one: some file systems refuse O_DIRECT only then.
func openProbe(paths []string, flags int) (p probing, err error) {
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	p.plain = flags == 0
	for _, path := range paths {
		f, err := os.OpenFile(path, os.O_RDONLY|flags, 0)
		if err != nil {
			return p, err
		}
		p.files = append(p.files, f)
		info, err := f.Stat()
		if err != nil {
			return p, err
		}
		p.sizes = append(p.sizes, info.Size())
		if p.plain {
			unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM) // without it, neighbours are read, too
		}
	}
	first, err := unix.Mmap(-1, 0, sector, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return p, err
	}
	defer unix.Munmap(first)
	_, err = p.read(0, first, 0)
	return p, err
}

// read is one read. os.File's would go on behind a short one, from where O_DIRECT cannot.
func (p probing) read(file int, b []byte, at int64) (n int, err error) {
	fd := int(p.files[file].Fd())
	if p.plain {
		unix.Fadvise(fd, at, int64(len(b)), unix.FADV_DONTNEED) // the storage is measured, not the page cache
	}
	for {
		if n, err = unix.Pread(fd, b, at); !errors.Is(err, unix.EINTR) {
			return max(n, 0), err
		}
	}
}

func (p probing) close() {
	for _, f := range p.files {
		f.Close()
	}
}
