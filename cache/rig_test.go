package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"solarfs/h5backend"
	"solarfs/planner"
)

var testFields = []h5backend.Field{
	{Path: "x", Name: "x", DType: "<f4", Shape: []int{3, 2}, Bytes: 24},
	{Path: "y", Name: "y", DType: "<i8", Bytes: 8},
}

// value is the bytes of a sample's field in the tests.
func value(field int, sample uint32) []byte {
	b := make([]byte, testFields[field].Bytes)
	for i := 0; i < len(b); i += 8 {
		binary.LittleEndian.PutUint64(b[i:], uint64(sample)*1000003+uint64(field*100+i))
	}
	return b
}

// source serves value, after delay, and fails where fail says so. each sees what
// one call asks for, when it has been read.
type source struct {
	delay time.Duration
	each  func(reqs []h5backend.Request)
	fail  func(sample uint32, field int) error
	loads atomic.Int64
}

func (s *source) Read(ctx context.Context, reqs []h5backend.Request) {
	if s.delay > 0 {
		select {
		case <-time.After(s.delay):
		case <-ctx.Done():
		}
	}
	for i := range reqs {
		r := &reqs[i]
		if r.Err = ctx.Err(); r.Err != nil {
			continue
		}
		s.loads.Add(1)
		if s.fail != nil {
			if r.Err = s.fail(r.Sample, r.Field); r.Err != nil {
				continue
			}
		}
		copy(r.Dst, value(r.Field, r.Sample))
	}
	if s.each != nil {
		s.each(reqs)
	}
}

// rig is a cache of one node with its plan and its log.
type rig struct {
	*Cache
	t    testing.TB
	spec planner.Spec
	node int
	src  *source
	plan []*planner.Epoch
	log  *bytes.Buffer
}

func newRig(t testing.TB, spec planner.Spec, span int, src *source) *rig {
	t.Helper()
	return newRigOf(t, 0, spec, int64(span)*StepBytes(spec, testFields), src)
}

func newRigOf(t testing.TB, node int, spec planner.Spec, window int64, src *source, change ...func(*Config)) *rig {
	t.Helper()
	if spec.Order == "" {
		spec.Order = planner.OrderTorch
	}
	r := &rig{t: t, spec: spec, node: node, src: src, log: &bytes.Buffer{}}
	cfg := Config{
		Spec: spec, Node: node, Fields: testFields, Ahead: src, Now: src, Log: slog.New(slog.NewTextHandler(r.log, nil)),
		Memory: Split{Window: window, Stray: 1 << 16},
	}
	for _, c := range change {
		c(&cfg)
	}
	var err error
	r.Cache, err = New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	for ep, ok := schedule.Next(); ok; ep, ok = schedule.Next() {
		r.plan = append(r.plan, ep)
	}
	return r
}

// close ends the cache and looks for memory that did not come back.
func (r *rig) close() {
	r.t.Helper()
	if err := r.Close(); err != nil {
		r.t.Error(err)
	}
	if held, _ := r.pool.use(); held != 0 {
		r.t.Errorf("%d bytes of batch files are left", held)
	}
	if bytes.Contains(r.log.Bytes(), []byte("fuller")) {
		r.t.Errorf("%+v: the buffer overflows:\n%s", r.spec, r.log)
	}
}

// want is the batch file as it must be.
func (r *rig) want(id BatchID) []byte {
	samples, _ := r.plan[id.Epoch].Batch(id.Step, id.Rank)
	l := r.Layout(id.Field, len(samples))
	out := bytes.Clone(l.Header)
	for _, s := range samples {
		out = append(out, value(id.Field, s)...)
	}
	return out
}

// bytesOf reads an open batch, in odd pieces if it is a stray.
func bytesOf(h *Handle) ([]byte, error) {
	if b := h.Bytes(0, int(h.layout.Size())); b != nil {
		return bytes.Clone(b), nil
	}
	out := make([]byte, h.layout.Size())
	for off := 0; off < len(out); off += 37 {
		n, err := h.ReadAt(context.Background(), out[off:min(off+37, len(out))], int64(off))
		if err != nil {
			return nil, err
		}
		if n != min(37, len(out)-off) {
			return nil, fmt.Errorf("read of %d bytes at %d is short", n, off)
		}
	}
	return out, nil
}

func (r *rig) check(id BatchID) {
	r.t.Helper()
	h, err := r.Open(context.Background(), id)
	if err != nil {
		r.t.Fatalf("open %+v: %v", id, err)
	}
	defer h.Close()
	got, err := bytesOf(h)
	if err != nil {
		r.t.Fatalf("read %+v: %v", id, err)
	}
	if !bytes.Equal(got, r.want(id)) {
		r.t.Fatalf("%+v: wrong bytes", id)
	}
}

// checkNode reads all ranks of the node in order, each at its own pace.
func (r *rig) checkNode() {
	var ranks sync.WaitGroup
	for local := range r.spec.RanksPerNode {
		ranks.Go(func() { r.checkRank(r.node*r.spec.RanksPerNode + local) })
	}
	ranks.Wait()
}

// planned counts what the plan has the node do.
func (r *rig) planned() (c EpochStatus) {
	for _, ep := range r.plan {
		for step := range r.spec.Steps() {
			for local := range r.spec.RanksPerNode {
				_, fates := ep.Batch(step, r.node*r.spec.RanksPerNode+local)
				for _, f := range fates {
					if f&planner.Load != 0 {
						c.Loads++
					} else {
						c.Hits++
					}
				}
			}
			c.Riders += int64(len(ep.Riders(step, r.node)))
		}
	}
	c.Loads += c.Riders
	return c
}

// followsPlan compares what was done with what the plan has the node do.
func (r *rig) followsPlan() {
	r.t.Helper()
	want, st := r.planned(), r.Status()
	if st.Strays != 0 || st.Hits != want.Hits || st.Loads != want.Loads || st.Riders != want.Riders || st.RidersMissed != 0 ||
		r.src.loads.Load() != want.Loads*int64(len(testFields)) {
		r.t.Errorf("%+v: %+v (source: %d reads); the plan has %+v", r.spec, st, r.src.loads.Load(), want)
	}
}

func (r *rig) checkRank(rank int) {
	for epoch := range r.spec.Epochs {
		for step := range r.spec.Steps() {
			for field := range testFields {
				r.check(BatchID{epoch, step, rank, field})
			}
		}
	}
}

var errDisk = errors.New("disk fault")
