package planner

import (
	"fmt"
	"sort"

	"solarfs/balance"
)

// Fate says what happens to a sample in its step: bit Load, else it is a hit; bit Keep.
type Fate = balance.Fate

const (
	// Load: read from storage. Without it the sample is in the node's buffer.
	Load = balance.Load
	// Keep: in the node's buffer after the step.
	Keep = balance.Keep
)

// Epoch is what every rank reads in one epoch, and what each node's buffer does. Immutable.
//
// A node executes a step so: all batches are made, hits from the buffer, loads from storage; then the samples of
// Drops and the hits without Keep leave the buffer; then the loads with Keep enter. After that the buffer holds
// at most BufferSamples.
type Epoch struct {
	Index int

	spec        Spec
	first, last int      // the nodes it holds, last excluded
	samples     []uint32 // by step, rank, row
	fates       []Fate   // as samples
	drops       drops
	stats       EpochStats
	digest      [32]byte
}

// drops lists samples by (step, node), ascending. There are few: none without DropLast.
type drops struct {
	keys    []uint64 // step*Nodes + node
	samples []uint32
}

// Batch returns what a rank (global number) reads in a step, in the order in which it stands in the batch file,
// and the fate of each. The caller must not change it. It panics if this epoch does not hold the rank's node or step.
func (e *Epoch) Batch(step, rank int) ([]uint32, []Fate) {
	node := rank / e.spec.RanksPerNode
	if step < 0 || step >= e.spec.Steps() || rank < 0 || node < e.first || node >= e.last {
		panic(fmt.Sprintf("planner: no batch of step %d, rank %d: steps 0..%d, nodes %d..%d", step, rank, e.spec.Steps()-1, e.first, e.last-1))
	}
	rows := e.spec.Rows(step)
	from := (e.last-e.first)*e.spec.RanksPerNode*e.spec.BatchSize*step + (rank-e.first*e.spec.RanksPerNode)*rows
	return e.samples[from : from+rows : from+rows], e.fates[from : from+rows : from+rows]
}

// Drops returns the samples that leave a node's buffer in a step though the node does not process them in it. Mostly none.
func (e *Epoch) Drops(step, node int) []uint32 {
	key := uint64(step*e.spec.Nodes + node)
	from := sort.Search(len(e.drops.keys), func(i int) bool { return e.drops.keys[i] >= key })
	to := from
	for to < len(e.drops.keys) && e.drops.keys[to] == key {
		to++
	}
	return e.drops.samples[from:to:to]
}

// Stats returns the figures of the whole epoch, also if this Epoch holds one node only.
func (e *Epoch) Stats() EpochStats { return e.stats }

// Digest is the SHA-256 of the whole epoch's samples, fates and drops; see digest.go for the encoding.
func (e *Epoch) Digest() [32]byte { return e.digest }

// Only returns the same epoch with that node's batches and drops alone, which is what its mount keeps. It must hold the node.
func (e *Epoch) Only(node int) *Epoch {
	only := *e
	only.first, only.last = node, node+1
	n := len(e.samples) / (e.last - e.first)
	only.samples, only.fates, only.drops = make([]uint32, 0, n), make([]Fate, 0, n), drops{}
	for step := range e.spec.Steps() {
		for local := range e.spec.RanksPerNode {
			samples, fates := e.Batch(step, node*e.spec.RanksPerNode+local)
			only.samples = append(only.samples, samples...)
			only.fates = append(only.fates, fates...)
		}
	}
	for i, key := range e.drops.keys {
		if int(key%uint64(e.spec.Nodes)) == node {
			only.drops.keys = append(only.drops.keys, key)
			only.drops.samples = append(only.drops.samples, e.drops.samples[i])
		}
	}
	return &only
}
