package planner

import (
	"fmt"
	"slices"

	"solarfs/balance"
)

// Fate says what happens to a sample in its step: bit Load, else it is a hit; bit Keep.
type Fate = balance.Fate

const (
	// Load: read from storage. Without it the sample is in the node's buffer.
	Load = balance.Load
	// Keep: in the node's buffer after the step.
	Keep = balance.Keep
	// Remote: read from another node's memory; only in strategies that are for comparison.
	Remote = balance.Remote
)

// Epoch is what every rank reads in one epoch, and what each node's buffer does. Immutable.
//
// A node executes a step so: all batches are made, hits from the buffer, loads from storage; then the samples of
// Drops and the hits without Keep leave the buffer; then the loads with Keep, and the Riders, enter. After that the buffer holds
// at most BufferSamples.
type Epoch struct {
	Index int

	spec        Spec
	first, last int      // the nodes it holds, last excluded
	samples     []uint32 // by step, rank, row
	fates       []Fate   // as samples
	starts      []int    // by step and node, and the end: where its samples begin; nil where batches are equal
	drops       lists
	riders      lists
	stats       EpochStats
	digest      [32]byte
}

// nodes is how many nodes it holds.
func (e *Epoch) nodes() int { return e.last - e.first }

// addStarts notes where the nodes of the next step begin, the step itself beginning at from.
func (e *Epoch) addStarts(from int, starts []int) {
	if e.spec.MaxImbalance == 0 {
		return
	}
	for _, start := range starts[:e.nodes()] {
		e.starts = append(e.starts, from+start)
	}
	if from+starts[e.nodes()] == len(e.samples) {
		e.starts = append(e.starts, len(e.samples))
	}
}

// nodeRange is where the samples of a node's ranks stand in a step.
func (e *Epoch) nodeRange(step, node int) (from, to int) {
	if e.starts != nil {
		i := step*e.nodes() + node - e.first
		return e.starts[i], e.starts[i+1]
	}
	slots := e.spec.RanksPerNode * e.spec.Rows(step)
	from = e.nodes()*e.spec.RanksPerNode*e.spec.BatchSize*step + (node-e.first)*slots
	return from, from + slots
}

// rankRange is where the samples of a rank stand in a step. The i-th sample of a node is local rank i mod RanksPerNode's.
func (e *Epoch) rankRange(step, rank int) (from, to int) {
	ranks := e.spec.RanksPerNode
	node, local := rank/ranks, rank%ranks
	if step < 0 || step >= e.spec.Steps() || rank < 0 || node < e.first || node >= e.last {
		panic(fmt.Sprintf("planner: no batch of step %d, rank %d: steps 0..%d, nodes %d..%d", step, rank, e.spec.Steps()-1, e.first, e.last-1))
	}
	from, to = e.nodeRange(step, node)
	rows, longer := (to-from)/ranks, (to-from)%ranks
	from += local*rows + min(local, longer)
	if local < longer {
		rows++
	}
	return from, from + rows
}

// Batch returns what a rank (global number) reads in a step, in the order in which it stands in the batch file,
// and the fate of each. The caller must not change it. It panics if this epoch does not hold the rank's node or step.
func (e *Epoch) Batch(step, rank int) ([]uint32, []Fate) {
	from, to := e.rankRange(step, rank)
	return e.samples[from:to:to], e.fates[from:to:to]
}

// Rows is how many samples a rank has in a step.
func (e *Epoch) Rows(step, rank int) int {
	from, to := e.rankRange(step, rank)
	return to - from
}

// Weight is what a rank's mean gradient counts in a step: its samples x ranks / all samples. 1 where batches are equal.
func (e *Epoch) Weight(step, rank int) float64 {
	return float64(e.Rows(step, rank)) / float64(e.spec.Rows(step))
}

// Drops returns the samples that leave a node's buffer in a step though the node does not process them in it.
func (e *Epoch) Drops(step, node int) []uint32 { return e.drops.of(step*e.spec.Nodes + node) }

// Riders returns the samples that enter a node's buffer in a step though the node does not process them in it: they stand in a
// chunk that is read for one of its loads.
func (e *Epoch) Riders(step, node int) []uint32 { return e.riders.of(step*e.spec.Nodes + node) }

// Stats returns the figures of the whole epoch, also if this Epoch holds one node only.
func (e *Epoch) Stats() EpochStats { return e.stats }

// Digest is the SHA-256 of the whole epoch's samples, fates and drops; see digest.go for the encoding.
func (e *Epoch) Digest() [32]byte { return e.digest }

// Only returns the same epoch with that node's batches, drops and riders alone, which is what its mount keeps. It must hold the node.
func (e *Epoch) Only(node int) *Epoch {
	only := *e
	only.first, only.last = node, node+1
	n := len(e.samples)/e.nodes() + 1
	only.samples, only.fates, only.starts = make([]uint32, 0, n), make([]Fate, 0, n), nil
	for step := range e.spec.Steps() {
		if e.starts != nil {
			only.starts = append(only.starts, len(only.samples))
		}
		from, to := e.nodeRange(step, node)
		only.samples = append(only.samples, e.samples[from:to]...)
		only.fates = append(only.fates, e.fates[from:to]...)
	}
	if e.starts != nil {
		only.starts = append(only.starts, len(only.samples))
	}
	ofNode := func(key uint64) bool { return int(key%uint64(e.spec.Nodes)) == node }
	only.samples, only.fates = slices.Clip(only.samples), slices.Clip(only.fates)
	only.drops, only.riders = e.drops.only(ofNode), e.riders.only(ofNode)
	return &only
}
