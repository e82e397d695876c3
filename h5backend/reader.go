package h5backend

import (
	"context"
	"fmt"
	"runtime"

	"solarfs/storage"
)

// Request asks for one sample of one field.
type Request struct {
	Field  int    // index into Fields
	Sample uint32 // over all files
	Dst    []byte // exactly Fields()[Field].Bytes long; its content is undefined where Err is set
	Err    error  // set by Read: nil, or a *ReadError
}

// Auto, for a figure of ReaderOptions, lets the Reader find it by what its reads take.
const Auto = -1

// ReaderOptions say how a Reader reads. The zero value is one read at a time, and none over gaps.
type ReaderOptions struct {
	Depth    int           // reads under way at once; Auto: from 16 on, at most MaxDepth
	MaxDepth int           // for Depth Auto; 0: storage.MaxDepth
	Gap      int64         // bytes: gaps in a file up to this are read over, where that saves a read; Auto: from what Model says on, at most storage.MaxGap
	Model    storage.Model // of the storage, as far as it is known
}

// tuning is what the Reader begins with, and may change. piece is what most of its reads take, in bytes.
func (o ReaderOptions) tuning(piece int) storage.Tuning {
	t := storage.Tuning{
		Model: o.Model, Start: storage.Setting{Gap: max(o.Gap, 0), Depth: max(o.Depth, 1)},
		FixedGap: o.Gap != Auto, FixedDepth: o.Depth != Auto, MaxDepth: o.MaxDepth,
	}
	if t.FixedDepth {
		t.MaxDepth = t.Start.Depth
	} else if t.MaxDepth <= 0 {
		t.MaxDepth = storage.MaxDepth
	}
	if !t.FixedGap {
		t.Start.Gap = o.Model.Gap(int64(piece))
	}
	if !t.FixedDepth {
		t.Start.Depth = min(firstDepth, t.MaxDepth)
	}
	return t
}

// firstDepth is where a depth that is to be found begins.
const firstDepth = 16

// Reader reads samples of a Set, at most Depth reads at once over all its callers. Readers of one Set do not wait for
// each other, but where libhdf5 itself must read.
type Reader struct {
	set      *Set
	slots    *slots
	decoders chan *decoder // who takes one may decode
	meter    *meter
}

// NewReader makes a Reader; its scratch memory, at most Set.ScratchBytes of its largest depth, comes with use.
func (s *Set) NewReader(o ReaderOptions) *Reader {
	t := o.tuning(s.probePiece())
	r := &Reader{set: s, decoders: make(chan *decoder, min(runtime.GOMAXPROCS(0), t.MaxDepth))}
	for range cap(r.decoders) {
		r.decoders <- &decoder{}
	}
	tuner := storage.NewTuner(t)
	r.slots = newSlots(tuner.Setting().Depth, t.MaxDepth)
	r.meter = newMeter(r.slots, tuner)
	return r
}

// Gap is the largest gap, in bytes, that the Reader now reads over.
func (r *Reader) Gap() int64 { return r.meter.gap.Load() }

// Depth is how many reads may now be under way at once.
func (r *Reader) Depth() int { return r.slots.now() }

// Speed is what the storage gives at that depth, as far as is known; a figure without limit is +Inf.
func (r *Reader) Speed() storage.Speed { return r.meter.speed() }

// Read fills every Dst with values in native byte order, or sets its Err. Requests may stand in any order and repeat: a
// chunk that several of them need is read and decoded once, neighbours in the file are read together, over gaps, too. A
// failure is tried again, and fails only the requests that need those bytes. When ctx ends, what is not read gets its
// error.
func (r *Reader) Read(ctx context.Context, reqs []Request) {
	p := r.set.plan(reqs)
	defer p.done()
	if len(p.pieces) > 0 {
		r.read(ctx, p.pieces)
	}
	r.set.handOn(reqs, p.files)
}

func failAll(pieces []piece, err error) {
	for i := range pieces {
		pieces[i].fail(err)
	}
}

// handOn checks each file once after its bytes were read, and counts.
func (s *Set) handOn(reqs []Request, files []int) {
	for _, i := range files {
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
