package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// chunkReads returns the chunk reads of each epoch over the reference: memory for the share m of the set, filled anew block by
// block, reads each of the M chunks of c samples (1/m)(1-(1-m)^c) times.
func chunkReads(t testing.TB, nodes, c int, m float64) (ratios []float64) {
	const samples = 120_000
	report, err := MakeReport(Spec{Samples: samples, Nodes: nodes, RanksPerNode: 1, BatchSize: 64, Epochs: 4, Order: OrderTorch,
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

// TestChunkReads: after the first epoch, never more reads than the reference, and mostly about half.
func TestChunkReads(t *testing.T) {
	for _, nodes := range []int{1, 4, 16} {
		for _, c := range []int{4, 16, 64} {
			for _, m := range []float64{.1, .25, .5} {
				ratios := chunkReads(t, nodes, c, m)
				t.Logf("%2d nodes, %2d samples a chunk, share %.2f: %.3f", nodes, c, m, ratios)
				limit := .75
				if c == 64 && nodes > 1 {
					limit = 1 // a node's steps are nearly full of hits, and equal batches leave little choice
				}
				for e, ratio := range ratios[1:] {
					if ratio > limit {
						t.Errorf("%d nodes, %d samples a chunk, share %v, epoch %d: %.3f of the reference, want %v at most", nodes, c, m, e+1, ratio, limit)
					}
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
