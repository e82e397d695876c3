package cache

import (
	"testing"
	"testing/synctest"

	"solarfs/planner"
)

// While an epoch is read the next one's plan is made, and no other: at the
// turn of an epoch nobody waits for a plan.
func TestNextEpochIsPlannedAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 400, Nodes: 1, RanksPerNode: 1, BatchSize: 10, Epochs: 5, BufferSamples: 100}
		r := newRig(t, spec, 4, &source{})
		defer r.close()
		for epoch := range spec.Epochs - 2 {
			for step := range spec.Steps() - 20 { // so that the window is in this epoch, too
				r.check(BatchID{epoch, step, 0, 0})
				r.check(BatchID{epoch, step, 0, 1})
				synctest.Wait()
				next, _ := r.epochs.known(epoch + 1)
				later, _ := r.epochs.known(epoch + 2)
				if next == nil || later != nil {
					t.Fatalf("epoch %d, step %d: the next epoch's plan is made: %v, the one's after it: %v", epoch, step, next != nil, later != nil)
				}
			}
			for step := spec.Steps() - 20; step < spec.Steps(); step++ {
				r.check(BatchID{epoch, step, 0, 0})
				r.check(BatchID{epoch, step, 0, 1})
			}
		}
	})
}
