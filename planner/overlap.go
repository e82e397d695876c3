package planner

import "math/bits"

// EpochGraph is SOLAR's graph of a job: its vertices are torch's epochs 0..E-1, and the cost from u to v is how many of the first B
// samples of v are not among the last B of u. B is what all buffers hold together, at most the samples of an epoch; repeats do not
// count. Costs are samples, and in general not symmetric. Immutable.
//
// Source: SOLAR, arXiv 2211.00224, and its released code (ANL-FAIR-SBI/SOLAR dc23301, utils/solar_shuffle.py), which divides a cost by
// the number of ranks and rounds it down.
type EpochGraph struct {
	epochs int
	// From u to v at u*(epochs+1)+v. The vertex epochs stands before the first epoch of a path and after the last: its costs are 0.
	costs []uint32
}

func newGraph(epochs int) *EpochGraph {
	return &EpochGraph{epochs: epochs, costs: make([]uint32, (epochs+1)*(epochs+1))}
}

// NewEpochGraph makes the graph of a spec that Validate accepts. Spec.Visit does not count.
//
// It takes E permutations and E^2*N/64 word operations, and E*N/4 bytes of memory beside one permutation; the graph keeps 4*E^2.
func NewEpochGraph(spec Spec) *EpochGraph {
	spec.Visit = nil
	g := newGraph(spec.Epochs)
	buffer := min(spec.allBuffers(), spec.regular())
	if buffer == 0 || buffer == spec.Samples {
		return g // nothing is kept, or all of it
	}
	firsts, lasts := make([]bitset, g.epochs), make([]bitset, g.epochs)
	for e := range g.epochs {
		order := spec.EpochOrder(e)[:spec.regular()]
		firsts[e] = newBitset(spec.Samples, order[:buffer])
		lasts[e] = newBitset(spec.Samples, order[len(order)-buffer:])
	}
	g.count(firsts, lasts, uint32(buffer))
	return g
}

// count sets the costs from the first and the last samples of each epoch. It goes through all pairs for a part of the sets at a time,
// which stays in the processor's cache.
func (g *EpochGraph) count(firsts, lasts []bitset, buffer uint32) {
	words := len(firsts[0])
	part := max(16, 1<<15/(2*g.epochs)) // words; 256 KiB over all sets
	for from := 0; from < words; from += part {
		to := min(from+part, words)
		for u, last := range lasts {
			for v, first := range firsts {
				*g.cost(u, v) += overlap(last[from:to], first[from:to])
			}
		}
	}
	for u := range g.epochs {
		for v := range g.epochs {
			*g.cost(u, v) = buffer - *g.cost(u, v)
		}
	}
}

func (g *EpochGraph) cost(u, v int) *uint32 { return &g.costs[u*(g.epochs+1)+v] }

// Cost is how many samples are not kept from epoch u's end to epoch v's beginning.
func (g *EpochGraph) Cost(u, v int) int { return int(*g.cost(u, v)) }

// bitset has a bit per sample.
type bitset []uint64

func newBitset(size int, samples []uint32) bitset {
	b := make(bitset, ceilDiv(size, 64))
	for _, s := range samples {
		b[s/64] |= 1 << (s % 64)
	}
	return b
}

// overlap is how many samples two sets of equal length share.
func overlap(a, b bitset) (n uint32) {
	b = b[:len(a)]
	for i, word := range a {
		n += uint32(bits.OnesCount64(word & b[i]))
	}
	return n
}
