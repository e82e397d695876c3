package cache

import (
	"bytes"
	"context"
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

	"solarfs/planner"
)

// Ranks that read in order, at their own pace, get the right bytes from the
// window alone, with exactly the plan's loads.
func TestInOrderFollowsThePlan(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 60 {
		spec := planner.Spec{
			Samples: 1 + rng.IntN(200), Nodes: 1, RanksPerNode: 1 + rng.IntN(3), BatchSize: 1 + rng.IntN(9), Epochs: 1 + rng.IntN(4),
			Seed: rng.Int64(), BufferSamples: rng.IntN(220),
		}
		span := 1 + rng.IntN(20)
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, spec, span, &source{delay: time.Millisecond})
			defer r.close()
			r.checkNode()
			r.followsPlan()
		})
	}
}

// Nobody has read yet: the window fills and waits.
func TestWindowWaitsForTheFirstReader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 1000, Nodes: 1, RanksPerNode: 2, BatchSize: 10, Epochs: 3, BufferSamples: 300}
		src := &source{}
		r := newRig(t, spec, 5, src)
		defer r.close()
		time.Sleep(time.Hour)
		inFiles := r.window.span * 20
		if st := r.Status(); int(st.Loads) != inFiles {
			t.Errorf("%d loads, want those of %d steps", st.Loads, r.window.span)
		}
		if read := int(src.loads.Load()) / len(testFields); read < inFiles+r.ahead/2 || read > inFiles+r.buffer.all || r.ahead == 0 {
			t.Errorf("%d loads are read, %d of them in files, with %d slots", read, inFiles, r.ahead)
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
			time.Sleep(time.Minute) // the window is full and has stood still
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
