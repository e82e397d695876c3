package integration

import (
	"slices"
	"testing"
)

// Batches of uneven size hold torch's global batches, value for value, weigh what
// they must, and are read as planned; so are the plans of other strategies than
// balanced.
func TestUnevenBatches(t *testing.T) {
	for _, s := range []spec{
		{layout: "contiguous", files: 1, n: 3001, nodes: 2, ranksPerNode: 2, batchSize: 16, epochs: 4, buffer: 1, imbalance: .2},
		{layout: "gzip7", files: 2, n: 1500, nodes: 2, ranksPerNode: 1, batchSize: 20, epochs: 4, buffer: .9, imbalance: .2, dropLast: true},
		{layout: "contiguous", files: 2, n: 2000, nodes: 3, ranksPerNode: 2, batchSize: 10, epochs: 4, buffer: .6, strategy: "solar"},
		{layout: "gzip7", files: 1, n: 1200, nodes: 2, ranksPerNode: 1, batchSize: 10, epochs: 3, buffer: .4, strategy: "lru"},
		{layout: "contiguous", files: 1, n: 1200, nodes: 2, ranksPerNode: 2, batchSize: 10, epochs: 3, buffer: .4, strategy: "pinned", order: "sequential"},
	} {
		s.read = "forward"
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			plan, mounts, files := s.job(t)
			uneven := s.imbalance > 0 || s.strategy == "solar"
			if plan.MaxBatch > plan.MinBatch != uneven || plan.Loads == int64(s.epochs*s.n) {
				t.Fatalf("plan: %+v", plan)
			}
			if s.strategy == "solar" && slices.IsSorted(plan.Spec.Visit) {
				t.Errorf("the epochs are visited in the order %v", plan.Spec.Visit)
			}
			s.check(t, plan, mounts, files)
			followsPlan(t, plan, mounts)
		})
	}
}

// Order block is no order of torch's, but every epoch holds every sample once, each with its own bytes.
func TestBlockOrder(t *testing.T) {
	for _, s := range []spec{
		{layout: "gzip7", files: 1, n: 1500, nodes: 2, ranksPerNode: 2, batchSize: 10, epochs: 3, buffer: .3, order: "block"},
		{layout: "contiguous", files: 2, n: 3000, nodes: 1, ranksPerNode: 1, batchSize: 16, epochs: 2, buffer: .5, order: "block"},
	} {
		s.read = "forward"
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			plan, mounts, files := s.job(t)
			s.check(t, plan, mounts, files)
			followsPlan(t, plan, mounts)
		})
	}
}
