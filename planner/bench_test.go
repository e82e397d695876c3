package planner

import (
	"fmt"
	"testing"
)

// BenchmarkEpoch plans whole epochs, torch's permutation and the digest included. ns/sample is the figure of interest;
// Spec.PlanBytes is its memory.
func BenchmarkEpoch(b *testing.B) {
	for _, c := range []struct{ samples, nodes, ranks int }{
		{1_000_000, 1, 4}, {1_000_000, 16, 1}, {1_000_000, 64, 4}, {10_000_000, 16, 1}, {100_000_000, 64, 4},
	} {
		for _, share := range []float64{.1, .5, .9} {
			b.Run(fmt.Sprintf("N=%d/nodes=%dx%d/share=%v", c.samples, c.nodes, c.ranks, share), func(b *testing.B) {
				benchEpoch(b, Spec{
					Samples: c.samples, Nodes: c.nodes, RanksPerNode: c.ranks, BatchSize: 64, Epochs: maxEpochs, Order: OrderTorch,
					BufferSamples: int(share * float64(c.samples) / float64(c.nodes)), ChunkSamples: []int{1, 1, 1},
				})
			})
		}
	}
}

func benchEpoch(b *testing.B, spec Spec) {
	schedule, err := NewSchedule(spec)
	if err != nil {
		b.Fatal(err)
	}
	next := func() {
		e, _ := schedule.Next()
		schedule.Reuse(e)
	}
	next() // the first epoch has no hits
	b.ReportAllocs()
	for b.Loop() {
		next()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(spec.Samples), "ns/sample")
}

// BenchmarkEpochOrder is torch's permutation alone.
func BenchmarkEpochOrder(b *testing.B) {
	for _, n := range []int{1_000_000, 10_000_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			spec := Spec{Samples: n, Nodes: 1, RanksPerNode: 1, BatchSize: 64, Epochs: 1, Order: OrderTorch}
			for b.Loop() {
				spec.EpochOrder(0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/sample")
		})
	}
}
