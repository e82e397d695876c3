package planner

import (
	"fmt"
	"testing"
)

func benchSpec(samples, epochs int, share float64) Spec {
	return Spec{Samples: samples, Nodes: 1, RanksPerNode: 1, BatchSize: 64, Epochs: epochs, Order: OrderTorch, BufferSamples: int(share * float64(samples))}
}

// BenchmarkEpochGraph makes the graph, permutations included. PtychoNN's set has 6,309,540 samples.
func BenchmarkEpochGraph(b *testing.B) {
	for _, c := range []struct{ samples, epochs int }{{10_000, 50}, {1_000_000, 50}, {6_309_540, 20}} {
		b.Run(fmt.Sprintf("N=%d/E=%d", c.samples, c.epochs), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewEpochGraph(benchSpec(c.samples, c.epochs, .5))
			}
		})
	}
}

// BenchmarkOrders is the solvers alone. saved-% is how much less than torch's order they cost.
func BenchmarkOrders(b *testing.B) {
	for _, epochs := range []int{12, 50, 100} {
		for _, share := range []float64{.1, .5, .85} {
			g := NewEpochGraph(benchSpec(10_000, epochs, share))
			solvers := map[string]func() Path{"swarm": func() Path { return g.Swarm(0) }, "best": g.Best}
			for _, name := range []string{"swarm", "best"} {
				b.Run(fmt.Sprintf("E=%d/share=%v/%s", epochs, share, name), func(b *testing.B) {
					var p Path
					for b.Loop() {
						p = solvers[name]()
					}
					b.ReportMetric(100*(1-float64(p.Cost)/float64(g.Torch().Cost)), "saved-%")
				})
			}
		}
	}
}
