package planner

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// plainCost counts what the graph's cost from epoch u to v is, by looking each sample up.
func plainCost(s Spec, u, v int) (cost int) {
	from, to := s.EpochOrder(u), s.EpochOrder(v)
	used := min(s.Samples, len(from)) // the rest are repeats
	buffer := min(used, s.Nodes*s.BufferSamples)
	kept := map[uint32]bool{}
	for _, sample := range from[used-buffer : used] {
		kept[sample] = true
	}
	for _, sample := range to[:buffer] {
		if !kept[sample] {
			cost++
		}
	}
	return cost
}

func TestEpochGraph(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	seen := map[string]int{}
	for i := range 400 {
		spec := fillable(randomSpec(r))
		if i%2 == 0 {
			spec = droppySpec(r)
		}
		g := NewEpochGraph(spec)
		for u := range spec.Epochs {
			for v := range spec.Epochs {
				if got, want := g.Cost(u, v), plainCost(spec, u, v); u != v && got != want {
					t.Fatalf("%+v: cost from %d to %d is %d, want %d", spec, u, v, got, want)
				}
			}
		}
		if spec.Epochs > 1 {
			seen[kindOf(spec)]++
		}
	}
	for _, kind := range []string{"no buffer", "all kept", "some unused, full", "repeats", "some unused"} {
		if seen[kind] == 0 {
			t.Errorf("no spec with %s among %v", kind, seen)
		}
	}
}

func kindOf(s Spec) string {
	switch {
	case s.BufferSamples == 0:
		return "no buffer"
	case s.regular() == s.Samples && s.allBuffers() == s.Samples:
		return "all kept"
	case s.regular() < s.Samples && s.allBuffers() >= s.regular():
		return "some unused, full"
	case s.Positions() > s.Samples:
		return "repeats"
	case s.regular() < s.Samples:
		return "some unused"
	}
	return "plain"
}

// Sets of more words than are counted at a time.
func TestEpochGraphInParts(t *testing.T) {
	spec := Spec{Samples: 100_000, Nodes: 3, RanksPerNode: 1, BatchSize: 64, Epochs: 40, Order: OrderTorch, BufferSamples: 9000}
	g := NewEpochGraph(spec)
	for _, pair := range [][2]int{{0, 39}, {39, 0}, {7, 8}} {
		if got, want := g.Cost(pair[0], pair[1]), plainCost(spec, pair[0], pair[1]); got != want {
			t.Errorf("cost of %v is %d, want %d", pair, got, want)
		}
	}
}

func TestGraphIgnoresVisit(t *testing.T) {
	spec := Spec{Samples: 100, Nodes: 1, RanksPerNode: 1, BatchSize: 4, Epochs: 3, Order: OrderTorch, BufferSamples: 50}
	want := NewEpochGraph(spec)
	spec.Visit = []int{2, 0, 1}
	if got := NewEpochGraph(spec); !slices.Equal(got.costs, want.costs) {
		t.Errorf("costs with Visit are %v, without %v", got.costs, want.costs)
	}
}
