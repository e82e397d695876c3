package cache

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"solarfs/planner"
)

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

// Ranks that all pause, or one that pauses for less than the others' patience, find their batches when they go on.
func TestPauses(t *testing.T) {
	spec := planner.Spec{Samples: 600, Nodes: 1, RanksPerNode: 2, BatchSize: 4, Epochs: 2, BufferSamples: 300}
	read := func(r *rig, rank, from, to int) {
		for g := from; g < to; g++ {
			for field := range testFields {
				r.check(BatchID{g / spec.Steps(), g % spec.Steps(), rank, field})
			}
		}
	}
	end := spec.Epochs * spec.Steps()
	for name, job := range map[string]func(*rig){
		"all ranks": func(r *rig) {
			for g := 0; g < end; g += 6 { // the first reads all that there is, and more, before the second reads again
				time.Sleep(time.Hour)
				var ranks sync.WaitGroup
				ranks.Go(func() { read(r, 0, g, min(g+6, end)) })
				synctest.Wait()
				read(r, 1, g, min(g+6, end))
				ranks.Wait()
			}
		},
		"one rank": func(r *rig) {
			var other sync.WaitGroup
			other.Go(func() { read(r, 0, 0, end) })
			for g := range end {
				read(r, 1, g, g+1)
				if g%10 == 0 {
					time.Sleep(late - time.Second)
				}
			}
			other.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, spec, 4, &source{delay: time.Millisecond})
				defer r.close()
				job(r)
				r.followsPlan()
			})
		})
	}
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

// A window that has stood still once is hurried until it has moved by its span,
// over a restart, too.
func TestGraceIsGivenOnce(t *testing.T) {
	w := newWindow(3, 100, 2, newPool(1<<20))
	want := func(when string, grace time.Duration) {
		t.Helper()
		w.mu.Lock()
		defer w.mu.Unlock()
		if got := w.graceLocked(); got != grace {
			t.Errorf("%s: grace %v, want %v", when, got, grace)
		}
	}
	stood := func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.mu.starved, w.mu.since = true, time.Now().Add(-grace)
		if left := w.patienceLocked(0); left != 0 {
			t.Errorf("it may wait for %v more", left)
		}
	}
	made := func(g int) { w.add(&step{g: g, files: [][]*batchFile{{{state: ready}}}}) }
	want("at first", grace)
	stood()
	want("after standing still", hurried)
	made(0)
	made(1)
	want("after two of three steps", hurried)
	made(2)
	want("after the span", grace)
	stood()
	w.mu.entries = map[int]*step{}
	w.restart(50)
	want("after a restart", hurried)
	made(50)
	made(51)
	made(52)
	want("after the span from there", grace)
}

// A reader that is interrupted while the window restarts leaves its file's
// memory behind for nobody.
func TestInterruptedAcrossARestart(t *testing.T) {
	p := newPool(2 * page)
	defer p.close()
	w := newWindow(2, 10, 1, p)
	f := &batchFile{file: take(t, p, 100)[0], done: make(chan struct{})}
	w.add(&step{g: 0, files: [][]*batchFile{{f}}})
	if got, err := w.find(context.Background(), 0, 0, 0); got != f || err != nil {
		t.Fatal(got, err)
	}
	w.restart(5)
	w.forgo(f)
	if f.state != gone || p.mu.out[100] != 0 {
		t.Errorf("state %d, %d files out", f.state, p.mu.out[100])
	}
}

// A reader that waits when the read-ahead ends with an error gets the error.
func TestWaitingWhenTheReadAheadEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 80, Nodes: 1, RanksPerNode: 1, BatchSize: 10, Epochs: 3, Order: planner.OrderTorch}
		src := &source{delay: time.Minute}
		report, err := planner.MakeReport(spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		report.Digests[1] = report.Digests[0]
		c, err := New(Config{Spec: spec, Digests: report.Digests, Fields: testFields, Ahead: src, Now: src,
			Log: slog.New(slog.DiscardHandler), Memory: Split{Window: 20 * StepBytes(spec, testFields), Stray: 1 << 16}})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if h, err := c.Open(context.Background(), BatchID{Step: 3}); err == nil {
			t.Errorf("opened %v", h)
		}
	})
}
