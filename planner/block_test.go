package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// blockSpec draws a spec of order block.
func blockSpec(r *rand.Rand) Spec {
	s := chunkedSpec(r)
	s.Order, s.BlockChunks = OrderBlock, 1+r.IntN(6)
	s.Chunk = []int{0, 1, s.Chunk}[r.IntN(3)]
	return s
}

// TestBlockOrder: a permutation in every epoch, another one in each; in one node's part of the steps the chunks follow each other,
// no farther apart than the window.
func TestBlockOrder(t *testing.T) {
	spec := Spec{Samples: 1003, Nodes: 3, RanksPerNode: 2, BatchSize: 8, Epochs: 2, Order: OrderBlock, Chunk: 10, BlockChunks: 4}
	first, second := spec.EpochOrder(0), spec.EpochOrder(1)
	if slices.Equal(first, second) {
		t.Error("two epochs in the same order")
	}
	for _, order := range [][]uint32{first, second} {
		sorted := slices.Sorted(slices.Values(order[:spec.Samples]))
		for i, s := range sorted {
			if int(s) != i {
				t.Fatalf("sample %d stands at %d of the sorted order", s, i)
			}
		}
	}
	seen := map[uint32]int{} // chunk -> its first place in the stream
	place := 0
	for from := 0; from+48 <= len(first); from += 48 {
		for _, s := range first[from : from+16] { // node 0's part
			if at, ok := seen[s/10]; ok && place-at >= 2*4*10 {
				t.Errorf("chunk %d stands at %d and %d of node 0's samples: more than two windows apart", s/10, at, place)
			} else if !ok {
				seen[s/10] = place
			}
			place++
		}
	}
}

// TestBlockOrderReadsOnce: with room for the window, each chunk is read once in every epoch; the nodes' ends may cost a few more.
func TestBlockOrderReadsOnce(t *testing.T) {
	for _, nodes := range []int{1, 4, 16} {
		for _, c := range []int{4, 16, 64} {
			t.Run(fmt.Sprintf("%d nodes, %d samples a chunk", nodes, c), func(t *testing.T) {
				const window = 8
				spec := Spec{Samples: 131_072, Nodes: nodes, RanksPerNode: 2, BatchSize: 32, Epochs: 3, Order: OrderBlock,
					Chunk: c, ChunkSamples: []int{c}, BlockChunks: window, BufferSamples: window*c + 64}
				chunks := spec.Samples / c
				for e, n := range mustReport(t, spec).StorageReadsByEpoch {
					if n < chunks || n > chunks+nodes {
						t.Errorf("epoch %d: %d reads of %d chunks", e, n, chunks)
					}
				}
			})
		}
	}
}
