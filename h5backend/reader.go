package h5backend

import (
	"context"
	"fmt"
	"sync"
)

// Request asks for one sample of one field.
type Request struct {
	Field  int    // index into Fields
	Sample uint32 // over all files
	Dst    []byte // exactly Fields()[Field].Bytes long; its content is undefined where Err is set
	Err    error  // set by Read: nil, or a *ReadError
}

// Reader reads samples of a Set, at most depth reads at once over all its callers. Readers of one Set do not wait for
// each other, but where libhdf5 itself must read.
type Reader struct {
	set   *Set
	slots chan *scratch // depth of them; who holds one may read
}

// NewReader makes a Reader; its scratch memory, at most Set.ScratchBytes(depth), comes with use.
func (s *Set) NewReader(depth int) *Reader {
	r := &Reader{s, make(chan *scratch, max(depth, 1))}
	for range cap(r.slots) {
		r.slots <- &scratch{}
	}
	return r
}

// Read fills every Dst with values in native byte order, or sets its Err. Requests may stand in any order and repeat: a
// chunk that several of them need is read and decoded once, neighbours in the file are read together. A failure
// is tried again, and fails only the requests that need those bytes. When ctx ends, what is not read gets its error.
func (r *Reader) Read(ctx context.Context, reqs []Request) {
	jobs, files := r.set.plan(reqs)
	var running sync.WaitGroup
	for i, j := range jobs {
		slot, err := r.take(ctx)
		if err != nil {
			j.fail(err)
			continue
		}
		run := func() {
			defer func() { r.slots <- slot }()
			(&reading{ctx, r.set, slot}).run(j)
		}
		if i == len(jobs)-1 {
			run() // the caller waits anyway
		} else {
			running.Go(run)
		}
	}
	running.Wait()
	r.set.handOn(reqs, files)
}

func (r *Reader) take(ctx context.Context) (*scratch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case s := <-r.slots:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// handOn checks each file once after its bytes were read, and counts.
func (s *Set) handOn(reqs []Request, files map[int]bool) {
	for i := range files {
		if err := s.files[i].src.check(); err != nil {
			s.refuse(reqs, i, err)
		}
	}
	good := 0
	for i := range reqs {
		if reqs[i].Err == nil {
			good++
		}
	}
	s.stats.samples.Add(int64(good))
	s.stats.failed.Add(int64(len(reqs) - good))
}

// refuse sets the error of all requests for a file.
func (s *Set) refuse(reqs []Request, file int, err error) {
	for i := range reqs {
		q := &reqs[i]
		if q.Field < 0 || q.Field >= len(s.fields) || int(q.Sample) >= s.total {
			continue
		}
		if f, row := s.find(q.Sample); f == file {
			q.Err = s.files[f].parts[q.Field].failure(q.Sample, row, err)
		}
	}
}

// failure names where a read failed.
func (p *part) failure(sample uint32, row int, err error) error {
	chunk := int64(-1)
	if p.chunkRows > 0 {
		chunk = int64(row / p.chunkRows)
	}
	return &ReadError{p.file.path, p.path, sample, chunk, err}
}

// valid says what is wrong with a request, if anything.
func (s *Set) valid(q *Request) error {
	switch {
	case q.Field < 0 || q.Field >= len(s.fields):
		return &ReadError{Sample: q.Sample, Chunk: -1, Err: fmt.Errorf("no field %d", q.Field)}
	case int64(q.Sample) >= int64(s.total):
		return &ReadError{Field: s.fields[q.Field].Path, Sample: q.Sample, Chunk: -1, Err: fmt.Errorf("only %d samples", s.total)}
	case len(q.Dst) != s.fields[q.Field].Bytes:
		return &ReadError{Field: s.fields[q.Field].Path, Sample: q.Sample, Chunk: -1,
			Err: fmt.Errorf("destination of %d bytes for a sample of %d", len(q.Dst), s.fields[q.Field].Bytes)}
	}
	return nil
}
