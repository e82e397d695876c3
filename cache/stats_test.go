package cache

import (
	"testing"
	"testing/synctest"
	"time"

	"solarfs/planner"
)

// A reader that waits for the plan of another epoch waits for its batch.
func TestWaitingForThePlanIsStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		spec := planner.Spec{Samples: 100, Nodes: 2, RanksPerNode: 1, BatchSize: 5, Epochs: 20}
		r := newRigOf(t, 0, spec, 3*StepBytes(spec, testFields), &source{}, func(c *Config) { c.AllRanks = true })
		defer r.close()
		synctest.Wait()
		<-r.epochs.making // somebody else plans
		go func() {
			time.Sleep(3 * time.Second)
			r.epochs.making <- struct{}{}
		}()
		h, err := r.Open(t.Context(), BatchID{Epoch: 15, Rank: 1})
		if err != nil {
			t.Fatal(err)
		}
		h.Close()
		if s := r.Status(); s.StallSeconds != 3 || s.Epochs[15].StallSeconds != 3 {
			t.Errorf("%v s of stall after 3 s of waiting", s.StallSeconds)
		}
	})
}
