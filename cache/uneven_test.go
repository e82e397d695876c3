package cache

import (
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"solarfs/planner"
)

// unevenSpec draws jobs on several nodes whose batches differ in size.
func unevenSpec(rng *rand.Rand) planner.Spec {
	s := planner.Spec{
		Samples: 100 + rng.IntN(300), Nodes: 2 + rng.IntN(3), RanksPerNode: 1 + rng.IntN(3), BatchSize: 4 + rng.IntN(9), Epochs: 2 + rng.IntN(3),
		Seed: rng.Int64(), Order: planner.OrderTorch, MaxImbalance: []float64{.2, .5, .9}[rng.IntN(3)], DropLast: rng.IntN(3) == 0,
	}
	s.BufferSamples = s.Samples/s.Nodes - rng.IntN(s.Samples/s.Nodes/4)
	return s
}

// Batches of uneven size come from the window, with the plan's loads, on every
// node and for ranks of their own pace; they use each other's memory.
func TestUnevenBatches(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	sizes := map[int]bool{} // relative to the equal share
	for range 30 {
		spec := unevenSpec(rng)
		node, span := rng.IntN(spec.Nodes), 4+rng.IntN(10)
		synctest.Test(t, func(t *testing.T) {
			r := newRigOf(t, node, spec, int64(span)*StepBytes(spec, testFields), &source{delay: time.Millisecond})
			defer r.close()
			r.checkNode()
			r.followsPlan()
			for _, ep := range r.plan {
				for step := range spec.Steps() {
					sizes[ep.Rows(step, node*spec.RanksPerNode)-spec.Rows(step)] = true
				}
			}
			// Batches of this size cost a page each, whatever their rows.
			if _, made := r.pool.use(); made > int64(span*spec.RanksPerNode*len(testFields)) {
				t.Errorf("%+v: %d files made in a window of %d steps", spec, made, span)
			}
		})
	}
	if len(sizes) < 5 {
		t.Errorf("batches left their equal share by %v only", sizes)
	}
}

// The least window holds the largest step.
func TestUnevenLeastWindow(t *testing.T) {
	spec := planner.Spec{Samples: 4000, Nodes: 2, RanksPerNode: 1, BatchSize: 400, Epochs: 3, Seed: 3, MaxImbalance: .5, BufferSamples: 2000}
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, 1, spec, StepBytes(spec, testFields), &source{})
		defer r.close()
		r.checkNode()
		r.followsPlan()
	})
}

// Strays of uneven batches have their own sizes.
func TestUnevenStrays(t *testing.T) {
	spec := planner.Spec{Samples: 300, Nodes: 3, RanksPerNode: 2, BatchSize: 8, Epochs: 3, Seed: 3, MaxImbalance: .5, BufferSamples: 100}
	synctest.Test(t, func(t *testing.T) {
		r := newRigOf(t, 1, spec, 4*StepBytes(spec, testFields), &source{})
		defer r.close()
		for _, epoch := range []int{2, 0, 1} {
			for step := spec.Steps() - 1; step >= 0; step-- {
				r.check(BatchID{epoch, step, 2, step % 2})
				r.check(BatchID{epoch, step, 3, step % 2})
			}
		}
	})
}
