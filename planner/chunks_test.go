package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// chunkReads returns the chunk reads of each epoch over the reference: memory for the share m of the set, filled anew block by
// block, reads each of the M chunks of c samples (1/m)(1-(1-m)^c) times.
func chunkReads(t testing.TB, nodes, c int, m float64) (ratios []float64) {
	const samples = 120_000
	report, err := MakeReport(Spec{Samples: samples, Nodes: nodes, RanksPerNode: 1, BatchSize: 64, Epochs: 6, Order: OrderTorch,
		BufferSamples: int(m * samples / float64(nodes)), Chunk: c, ChunkSamples: []int{c}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	reference := (1 - math.Pow(1-m, float64(c))) / m * samples / float64(c)
	for _, n := range report.ChunkReadsByEpoch {
		ratios = append(ratios, float64(n)/reference)
	}
	return ratios
}

// TestChunkReads: no epoch has more reads than the reference, and later ones have mostly about half. But for one: the first where
// the buffers hold half the set and a chunk half a step, and several nodes must have equal batches.
func TestChunkReads(t *testing.T) {
	for _, nodes := range []int{1, 4, 16} {
		for _, c := range []int{4, 16, 64} {
			for _, m := range []float64{.1, .25, .5} {
				ratios := chunkReads(t, nodes, c, m)
				t.Logf("%2d nodes, %2d samples a chunk, share %.2f: %.3f", nodes, c, m, ratios)
				first, later := 1., .65
				if c == 64 && m == .5 && nodes > 1 {
					first, later = 1.2, .95
				}
				if most := slices.Max(ratios[1:]); ratios[0] > first || most > later {
					t.Errorf("%d nodes, %d samples a chunk, share %v: %.3f of the reference and then up to %.3f, want %v and %v at most",
						nodes, c, m, ratios[0], most, first, later)
				}
			}
		}
	}
}

func BenchmarkChunks(b *testing.B) {
	for _, c := range []int{4, 16, 64} {
		b.Run(fmt.Sprintf("c=%d", c), func(b *testing.B) {
			benchEpoch(b, Spec{Samples: 1_000_000, Nodes: 16, RanksPerNode: 1, BatchSize: 64, Epochs: maxEpochs, Order: OrderTorch,
				BufferSamples: 1_000_000 / 4 / 16, Chunk: c, ChunkSamples: []int{c}})
		})
	}
}

// chunkedSpec draws a spec whose reads bring several samples.
func chunkedSpec(r *rand.Rand) Spec {
	s := fillable(randomSpec(r))
	s.Chunk = 2 + r.IntN(12)
	s.ChunkSamples = append(s.ChunkSamples, s.Chunk)
	return s
}

// unevenSpec draws a spec whose batches may be uneven.
func unevenSpec(r *rand.Rand) Spec {
	s := fillable(randomSpec(r))
	if r.IntN(3) == 0 {
		s = chunkedSpec(r)
	}
	s.MaxImbalance = []float64{.05, .1, .3, .5, .9}[r.IntN(5)]
	return s
}
