package cache

import (
	"bytes"
	"context"
	"errors"
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
