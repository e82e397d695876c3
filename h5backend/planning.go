package h5backend

import (
	"slices"
	"sync"
)

// plan is the requests of one Read, in the order in which they are read.
type plan struct {
	pieces  []piece
	files   []int     // that they need, each once
	byField []ordered // before they are merged into pieces
}

// ordered is pieces of one field. Requests mostly come in the order of samples, which is that of the file.
type ordered struct {
	pieces   []piece
	unsorted bool
}

// plans are used again: a Read of many requests needs no new memory.
var plans = sync.Pool{New: func() any { return &plan{} }}

// plan places the requests. Those that are wrong, or for a file that is stale, get their error at once.
func (s *Set) plan(reqs []Request) *plan {
	p := plans.Get().(*plan)
	p.byField = slices.Grow(p.byField, len(s.fields))[:len(s.fields)]
	var at finder
	for i := range reqs {
		q := &reqs[i]
		if q.Err = s.valid(q); q.Err != nil {
			continue
		}
		file, row := at.find(s, q.Sample)
		one := piece{file: file, part: s.files[file].parts[q.Field], row: row, req: q}
		if one.part.file.stale.Load() {
			one.fail(ErrStale)
			continue
		}
		one.place()
		p.add(&one)
	}
	p.merge()
	slices.Sort(p.files)
	p.files = slices.Compact(p.files)
	return p
}

func (p *plan) add(one *piece) {
	if n := len(p.files); n == 0 || p.files[n-1] != one.file {
		p.files = append(p.files, one.file)
	}
	f := &p.byField[one.req.Field]
	if n := len(f.pieces); n > 0 && inOrder(&f.pieces[n-1], one) > 0 {
		f.unsorted = true
	}
	f.pieces = append(f.pieces, *one)
}

// merge puts the pieces of all fields into one order.
func (p *plan) merge() {
	var heads [][]piece
	total := 0
	for i := range p.byField {
		f := &p.byField[i]
		if f.unsorted {
			slices.SortFunc(f.pieces, func(a, b piece) int { return inOrder(&a, &b) })
		}
		if total += len(f.pieces); len(f.pieces) > 0 {
			heads = append(heads, f.pieces)
		}
	}
	p.pieces = slices.Grow(p.pieces, total)
	for len(heads) > 1 {
		least := 0
		for i := range heads[1:] {
			if inOrder(&heads[i+1][0], &heads[least][0]) < 0 {
				least = i + 1
			}
		}
		p.pieces = append(p.pieces, heads[least][0])
		if heads[least] = heads[least][1:]; len(heads[least]) == 0 {
			heads = slices.Delete(heads, least, least+1)
		}
	}
	for _, rest := range heads {
		p.pieces = append(p.pieces, rest...)
	}
}

// done gives the plan's memory back.
func (p *plan) done() {
	// No destination is kept alive.
	clear(p.pieces)
	for i := range p.byField {
		f := &p.byField[i]
		clear(f.pieces)
		f.pieces, f.unsorted = f.pieces[:0], false
	}
	p.pieces, p.files = p.pieces[:0], p.files[:0]
	plans.Put(p)
}

// finder finds samples' files; mostly one has the next sample, too.
type finder struct{ file, first, end int }

func (f *finder) find(s *Set, sample uint32) (file, row int) {
	if k := int(sample); k < f.first || k >= f.end {
		f.file, row = s.find(sample)
		f.first = k - row
		f.end = f.first + s.files[f.file].rows
	}
	return f.file, int(sample) - f.first
}
