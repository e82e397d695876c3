package h5backend

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// Pace is what storage gives to so many reads at once, each of the size that most of the data's reads have.
type Pace struct {
	Depth     int     `json:"depth"`
	Rate      float64 `json:"requests_per_second"`
	Bandwidth float64 `json:"bandwidth"` // bytes a second
}

// Paces measures the storage at several depths, as Probe does at one, for about a quarter of a second each.
func (s *Set) Paces(depths []int) (paces []Pace, err error) {
	files, err := openProbe(s.probed(), unix.O_DIRECT)
	if err != nil {
		files, err = openProbe(s.probed(), 0)
	}
	if err != nil {
		return nil, fmt.Errorf("measure the storage: %w", err)
	}
	defer files.close()
	p := probe{sizes: files.sizes, read: files.read, piece: s.probePiece()}
	for _, depth := range depths {
		r, err := p.atDepth(depth)
		if err != nil {
			return nil, fmt.Errorf("measure the storage: %w", err)
		}
		paces = append(paces, Pace{depth, float64(len(r.times)) / r.seconds, r.bytes / r.seconds})
	}
	return paces, nil
}

// atDepth reads here and there, so many at once.
func (p *probe) atDepth(depth int) (reads, error) {
	total := int64(0)
	for _, size := range p.sizes {
		total += size
	}
	memory, err := unix.Mmap(-1, 0, depth*p.piece, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return reads{}, err
	}
	defer unix.Munmap(memory)
	return best(func(int) (reads, error) {
		return p.part(memory, p.piece, depth, max(4*depth, probeBytes/p.piece), func(b []byte, _ int) (int, error) { return p.somewhere(b, total) })
	})
}
