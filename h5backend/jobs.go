package h5backend

import (
	"cmp"
	"slices"
)

// piece is one request with its place.
type piece struct {
	file int // index in the Set
	part *part
	row  int
	at   uint64 // pieces of one part are read in this order: file offset, chunk, or row
	req  *Request
}

func (p *piece) fail(err error) { p.req.Err = p.part.failure(p.req.Sample, p.row, err) }

// job is pieces that one goroutine reads, all in one way.
type job struct {
	how    way
	pieces []piece
}

func (j job) fail(err error) {
	for i := range j.pieces {
		j.pieces[i].fail(err)
	}
}

// plan sorts the requests into jobs and says which files they need. Requests that are wrong, or for a file that is
// stale, get their error at once.
func (s *Set) plan(reqs []Request) (jobs []job, files map[int]bool) {
	files = map[int]bool{}
	var sorted [3][]piece // by way
	for i := range reqs {
		q := &reqs[i]
		if q.Err = s.valid(q); q.Err != nil {
			continue
		}
		file, row := s.find(q.Sample)
		p := piece{file: file, part: s.files[file].parts[q.Field], row: row, req: q}
		if p.part.file.stale.Load() {
			p.fail(ErrStale)
			continue
		}
		files[file] = true
		how := p.place()
		sorted[how] = append(sorted[how], p)
	}
	slices.SortFunc(sorted[wayDirect], byOffset)
	slices.SortFunc(sorted[wayDecode], byPart)
	slices.SortFunc(sorted[wayLib], byPart)
	for _, run := range cut(sorted[wayDirect], joins()) {
		jobs = append(jobs, job{wayDirect, run})
	}
	for _, chunk := range cut(sorted[wayDecode], func(a, b *piece) bool { return a.part == b.part && a.at == b.at }) {
		jobs = append(jobs, job{wayDecode, chunk})
	}
	for _, part := range cut(sorted[wayLib], func(a, b *piece) bool { return a.part == b.part }) {
		jobs = append(jobs, job{wayLib, part})
	}
	return jobs, files
}

// place sets at and says how the piece is read: a chunk that is stored as it is, directly.
func (p *piece) place() way {
	if p.part.way == wayLib {
		p.at = uint64(p.row)
		return wayLib
	}
	if off, ok := p.part.offset(p.row); ok {
		p.at = off
		return wayDirect
	}
	p.at = uint64(p.row / p.part.chunkRows)
	return wayDecode
}

// byOffset orders by place in the file; neighbours of several fields may mix.
func byOffset(a, b piece) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.at, b.at))
}

func byPart(a, b piece) int {
	return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.req.Field, b.req.Field), cmp.Compare(a.at, b.at))
}

// cut splits pieces wherever same does not hold between neighbours.
func cut(pieces []piece, same func(a, b *piece) bool) [][]piece {
	var out [][]piece
	for begin, i := 0, 1; i <= len(pieces); i++ {
		if i == len(pieces) || !same(&pieces[i-1], &pieces[i]) {
			out = append(out, pieces[begin:i])
			begin = i
		}
	}
	return out
}

// maxRun bounds one merged read, so that a large one still spreads over the Reader's depth.
const maxRun = 4 << 20

// joins decides which neighbours in file order become one read: repeats, and those without a gap. To read over gaps,
// b.at would be allowed beyond end, and the run given a buffer for the bytes between.
func joins() func(a, b *piece) bool {
	size, count := 0, 1
	return func(a, b *piece) bool {
		if size == 0 {
			size = a.part.bytes
		}
		end := a.at + uint64(a.part.bytes)
		repeat := a.at == b.at && a.part == b.part
		if a.file != b.file || !repeat && (b.at != end || count == maxBuffers || size+b.part.bytes > maxRun) {
			size, count = b.part.bytes, 1
			return false
		}
		if !repeat {
			size, count = size+b.part.bytes, count+1
		}
		return true
	}
}
