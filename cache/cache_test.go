package cache

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
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

// source serves value, after delay, and fails where fail says so.
type source struct {
	delay time.Duration
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
}

// rig is a cache with its plan.
type rig struct {
	*Cache
	t    testing.TB
	spec planner.Spec
	src  *source
	plan []*planner.Epoch
}

func newRig(t testing.TB, spec planner.Spec, span int, src *source) *rig {
	t.Helper()
	if spec.Order == "" {
		spec.Order = planner.OrderTorch
	}
	c, err := New(Config{
		Spec: spec, Fields: testFields, Ahead: src, Now: src, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
		Memory: Split{Window: int64(span) * StepBytes(spec, testFields), Stray: 1 << 16},
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &rig{Cache: c, t: t, spec: spec, src: src}
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

func (r *rig) checkRank(rank int) {
	for epoch := range r.spec.Epochs {
		for step := range r.spec.Steps() {
			for field := range testFields {
				r.check(BatchID{epoch, step, rank, field})
			}
		}
	}
}

// Ranks that read in order, at their own pace, get the right bytes from the
// window alone, with exactly the plan's loads.
func TestInOrderFollowsThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		spec := planner.Spec{
			Samples: 1 + rng.IntN(200), Nodes: 1, RanksPerNode: 1 + rng.IntN(3), BatchSize: 1 + rng.IntN(9), Epochs: 1 + rng.IntN(4),
			Seed: rng.Int64(), BufferSamples: rng.IntN(220),
		}
		span := 4 + rng.IntN(20)
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, spec, span, &source{delay: time.Millisecond})
			defer r.close()
			var ranks sync.WaitGroup
			for rank := range spec.RanksPerNode {
				ranks.Go(func() { r.checkRank(rank) })
			}
			ranks.Wait()
			planned := 0
			for _, ep := range r.plan {
				planned += ep.Stats().Loads
			}
			st := r.Status()
			if st.Strays != 0 || int(st.Loads) != planned || int(r.src.loads.Load()) != planned*len(testFields) {
				t.Errorf("%+v: %d strays, %d loads (source: %d reads); the plan has %d", spec, st.Strays, st.Loads, r.src.loads.Load(), planned)
			}
		})
	}
}

// Nobody has read yet: the window fills and waits.
func TestWindowWaitsForTheFirstReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 1000, Nodes: 1, RanksPerNode: 2, BatchSize: 10, Epochs: 3, BufferSamples: 300}
		r := newRig(t, spec, 5, &source{})
		defer r.close()
		time.Sleep(time.Hour)
		if st := r.Status(); st.Loads != 5*20 {
			t.Errorf("%d loads, want those of 5 steps", st.Loads)
		}
		r.checkRank(0) // and nobody ever reads rank 1
		if st := r.Status(); st.Strays != 0 {
			t.Errorf("%d strays", st.Strays)
		}
	})
}

// Any order of reading gives the same bytes, and memory stays in its limits.
func TestAnyOrder(t *testing.T) {
	orders := map[string]func(steps []int){
		"backward": func(s []int) {
			for i, j := 0, len(s)-1; i < j; i, j = i+1, j-1 {
				s[i], s[j] = s[j], s[i]
			}
		},
		"random": func(s []int) {
			rand.New(rand.NewPCG(9, 9)).Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
		},
		"pairs swapped": func(s []int) {
			for i := 0; i+1 < len(s); i += 2 {
				s[i], s[i+1] = s[i+1], s[i]
			}
		},
	}
	for name, reorder := range orders {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				spec := planner.Spec{Samples: 300, Nodes: 1, RanksPerNode: 2, BatchSize: 4, Epochs: 2, BufferSamples: 150}
				r := newRig(t, spec, 6, &source{delay: time.Millisecond})
				defer r.close()
				steps := make([]int, spec.Epochs*spec.Steps())
				for i := range steps {
					steps[i] = i
				}
				reorder(steps)
				var ranks sync.WaitGroup
				for rank := range 2 {
					ranks.Go(func() {
						for _, g := range steps {
							r.check(BatchID{g / spec.Steps(), g % spec.Steps(), rank, g % 2})
							if held, _ := r.pool.use(); held > r.pool.limit {
								t.Errorf("batch files hold %d bytes of %d", held, r.pool.limit)
							}
						}
					})
				}
				ranks.Wait()
			})
		})
	}
}

// A reader that starts in a later epoch is followed there after a few batches.
func TestWindowFollowsAJump(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 600, Nodes: 1, RanksPerNode: 2, BatchSize: 5, Epochs: 6, BufferSamples: 300}
		r := newRig(t, spec, 8, &source{delay: time.Millisecond})
		defer r.close()
		for _, epoch := range []int{4, 1} {
			before := r.Status().Strays
			var ranks sync.WaitGroup
			for rank := range 2 {
				ranks.Go(func() {
					for step := 7; step < spec.Steps(); step++ {
						time.Sleep(5 * time.Millisecond)
						r.check(BatchID{epoch, step, rank, 0})
						r.check(BatchID{epoch, step, rank, 1})
					}
				})
			}
			ranks.Wait()
			if strays := r.Status().Strays - before; strays > 30 {
				t.Errorf("epoch %d: %d strays; the window did not follow", epoch, strays)
			}
		}
	})
}

var errDisk = errors.New("disk fault")

// A load that fails costs its own batches only, and only while the fault lasts.
func TestFaultsStayWhereTheyAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 200, Nodes: 1, RanksPerNode: 1, BatchSize: 10, Epochs: 3, BufferSamples: 100}
		var broken atomic.Bool
		broken.Store(true)
		src := &source{delay: time.Millisecond, fail: func(sample uint32, field int) error {
			if broken.Load() && sample%50 == 7 && field == 0 {
				return fmt.Errorf("sample %d: %w", sample, errDisk)
			}
			return nil
		}}
		r := newRig(t, spec, 4, src)
		defer r.close()
		var failed []BatchID
		for step := range spec.Steps() {
			id := BatchID{0, step, 0, 0}
			h, err := r.Open(context.Background(), id)
			if err != nil {
				t.Fatal(err)
			}
			got, err := bytesOf(h)
			h.Close()
			switch samples, _ := r.plan[0].Batch(step, 0); {
			case err == nil && !bytes.Equal(got, r.want(id)):
				t.Fatalf("step %d: wrong bytes", step)
			case err != nil && !errors.Is(err, errDisk):
				t.Fatal(err)
			case err != nil:
				failed = append(failed, id)
			default:
				for _, s := range samples {
					if s%50 == 7 {
						t.Errorf("step %d has the unreadable sample %d and did not fail", step, s)
					}
				}
			}
			r.check(BatchID{0, step, 0, 1})
		}
		if len(failed) == 0 || len(r.Status().Errors) == 0 {
			t.Fatal("nothing has failed")
		}
		broken.Store(false)
		for _, id := range failed {
			r.check(id)
		}
		for epoch := 1; epoch < 3; epoch++ {
			for step := range spec.Steps() {
				r.check(BatchID{epoch, step, 0, 0})
				r.check(BatchID{epoch, step, 0, 1})
			}
		}
	})
}

// An interrupted reader leaves at once and takes nothing with it.
func TestInterruptedOpen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 100, Nodes: 1, RanksPerNode: 1, BatchSize: 10, Epochs: 1}
		r := newRig(t, spec, 4, &source{delay: time.Second})
		defer r.close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
		defer cancel()
		if _, err := r.Open(ctx, BatchID{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("open: %v", err)
		}
		r.checkRank(0)
	})
}

// Readers that never close what they open do not stop the others.
func TestOpenFilesThatStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 400, Nodes: 1, RanksPerNode: 1, BatchSize: 4, Epochs: 1}
		r := newRig(t, spec, 3, &source{delay: time.Millisecond})
		began := time.Now()
		var handles []*Handle
		for step := range spec.Steps() {
			for field := range testFields {
				id := BatchID{0, step, 0, field}
				h, err := r.Open(context.Background(), id)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := bytesOf(h); err != nil || !bytes.Equal(got, r.want(id)) {
					t.Fatalf("%+v: wrong bytes or %v", id, err)
				}
				handles = append(handles, h)
			}
		}
		if waited := time.Since(began); waited > 20*grace {
			t.Errorf("%d batches that are kept open took %v", len(handles), waited)
		}
		for _, h := range handles {
			h.Close()
		}
		r.close()
	})
}

func TestPlanThatDiffersEndsTheReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 40, Nodes: 1, RanksPerNode: 1, BatchSize: 4, Epochs: 2, Order: planner.OrderTorch}
		src := &source{}
		c, err := New(Config{Spec: spec, Digests: []string{"00", "00"}, Fields: testFields, Ahead: src, Now: src,
			Log: slog.New(slog.NewTextHandler(io.Discard, nil)), Memory: Split{Window: 4 * StepBytes(spec, testFields), Stray: 1 << 16}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		synctest.Wait()
		if h, err := c.Open(context.Background(), BatchID{}); err == nil {
			t.Errorf("a batch of another plan was opened: %v", h)
		}
		if len(c.Status().Errors) == 0 {
			t.Error("status does not say why")
		}
	})
}

// While storage fails, the window stays where its readers are, and goes on from
// there when it is back.
func TestOutageDoesNotRunAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 400, Nodes: 1, RanksPerNode: 2, BatchSize: 10, Epochs: 3, BufferSamples: 200}
		var down atomic.Bool
		src := &source{delay: time.Millisecond, fail: func(uint32, int) error {
			if down.Load() {
				return errDisk
			}
			return nil
		}}
		r := newRig(t, spec, 5, src)
		defer r.close()
		for step := range 10 {
			r.check(BatchID{0, step, 0, 0})
			r.check(BatchID{0, step, 0, 1})
			r.check(BatchID{0, step, 1, 0})
			r.check(BatchID{0, step, 1, 1})
			down.Store(step == 4)
			time.Sleep(time.Minute)
		}
		down.Store(false)
		for rank := range 2 {
			for step := 10; step < spec.Steps(); step++ {
				r.check(BatchID{0, step, rank, 0})
				r.check(BatchID{0, step, rank, 1})
			}
		}
		if st := r.Status(); st.Strays > 6*4 {
			t.Errorf("%d strays after an outage of one minute in a window of 5 steps", st.Strays)
		}
	})
}

// Readers that die while they wait leave nothing behind that holds the window.
func TestDeadWaitersDoNotHoldTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 400, Nodes: 1, RanksPerNode: 1, BatchSize: 10, Epochs: 1}
		r := newRig(t, spec, 6, &source{delay: time.Second})
		defer r.close()
		for step := range 3 {
			ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
			if _, err := r.Open(ctx, BatchID{0, step, 0, 0}); err == nil {
				t.Fatal("opened before it was made")
			}
			cancel()
		}
		for step := 3; step < spec.Steps(); step++ { // steps 0 to 2 are never read
			r.check(BatchID{0, step, 0, 0})
			r.check(BatchID{0, step, 0, 1})
		}
		if st := r.Status(); st.Strays != 0 {
			t.Errorf("%d strays", st.Strays)
		}
	})
}

// A rank that nobody reads holds the others for one grace, even if each open
// is interrupted after a second and tried again, or somebody looks at the held
// batch now and then.
func TestHeldWindowMovesOn(t *testing.T) {
	spec := planner.Spec{Samples: 400, Nodes: 1, RanksPerNode: 2, BatchSize: 4, Epochs: 1}
	again := func(r *rig, id BatchID) *Handle {
		for {
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			h, err := r.Open(ctx, id)
			cancel()
			if err == nil {
				return h
			}
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
		}
	}
	t.Run("interrupts", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, spec, 4, &source{delay: time.Millisecond})
			defer r.close()
			began := time.Now()
			for step := range spec.Steps() {
				h := again(r, BatchID{0, step, 0, 0})
				if got, err := bytesOf(h); err != nil || !bytes.Equal(got, r.want(h.id)) {
					t.Fatalf("step %d: wrong bytes or %v", step, err)
				}
				h.Close()
			}
			if waited := time.Since(began); waited > 3*grace {
				t.Errorf("waited %v", waited)
			}
		})
	})
	t.Run("peeks", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, spec, 4, &source{delay: time.Millisecond})
			held := again(r, BatchID{0, 0, 1, 0})
			ctx, stop := context.WithCancel(context.Background())
			var peeking sync.WaitGroup
			peeking.Go(func() {
				for ctx.Err() == nil {
					again(r, BatchID{0, 0, 1, 0}).Close()
					time.Sleep(time.Second)
				}
			})
			began := time.Now()
			for step := range spec.Steps() {
				r.check(BatchID{0, step, 0, 0})
			}
			if waited := time.Since(began); waited > 20*grace {
				t.Errorf("waited %v", waited)
			}
			stop()
			peeking.Wait()
			held.Close()
			r.close()
		})
	})
}

// Steps of very small files are bounded by descriptors, too.
func TestManySmallFiles(t *testing.T) {
	p := newPool(1 << 40)
	defer p.close()
	var files int64
	for held := int64(0); held+p.cost(1) <= p.limit; held += p.cost(1) {
		files++
	}
	if files > maxFiles() {
		t.Errorf("%d files fit, %d are allowed", files, maxFiles())
	}
	if got := newPool(1 << 20).cost(1); got != page {
		t.Errorf("a byte costs %d", got)
	}
}
