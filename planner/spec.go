package planner

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"solarfs/balance"
)

// The orders that a Spec can name.
const (
	OrderTorch      = "torch"      // a new permutation in every epoch, as DistributedSampler(shuffle=True)
	OrderSequential = "sequential" // 0..N-1 in every epoch, as DistributedSampler(shuffle=False)
	OrderBlock      = "block"      // chunks in a new random order in every epoch, samples shuffled within BlockChunks of them; no torch order
)

// Limits of a Spec. maxGlobal bounds ranks*BatchSize so that no product of sizes overflows.
const (
	maxSamples = math.MaxUint32
	maxGlobal  = 1 << 40
	maxRanks   = 1 << 24
	maxEpochs  = 100_000 // a plan file holds a digest of each
	maxOrdered = 500     // of which the order search takes 7 s and E x N/4 bytes
)

// Spec is all that a plan depends on.
type Spec struct {
	Samples       int    `json:"samples"` // N, 1 .. 4294967295
	Nodes         int    `json:"nodes"`
	RanksPerNode  int    `json:"ranks_per_node"`
	BatchSize     int    `json:"batch_size"` // samples per rank and step
	Epochs        int    `json:"epochs"`     // 1 .. 100000
	Seed          int64  `json:"seed"`
	Order         string `json:"order"`          // OrderTorch, OrderSequential or OrderBlock
	DropLast      bool   `json:"drop_last"`      // as DistributedSampler(drop_last=True) and DataLoader(drop_last=True)
	BufferSamples int    `json:"buffer_samples"` // per node: how many samples one node's buffer holds
	ChunkSamples  []int  `json:"chunk_samples"`  // per field: samples per storage chunk (1 where contiguous); only counts storage reads

	// Strategy is who processes, loads and keeps what; see Strategies. Empty: balanced.
	Strategy string `json:"strategy"`
	// MaxImbalance is how far a rank's batch may leave its equal share, as a fraction of it: 0 <= MaxImbalance < 1.
	MaxImbalance float64 `json:"max_imbalance"`
	// Chunk is how many samples one storage read brings: those of a chunk of the largest field. 0 or 1: one.
	Chunk int `json:"chunk"`
	// BlockChunks is within how many chunks of one node OrderBlock shuffles samples, 1 at least; 0 for other orders.
	BlockChunks int `json:"block_chunks"`
	// Visit says which of torch's epochs each epoch reads, a permutation of 0..Epochs-1. Empty: the same.
	Visit []int `json:"visit,omitempty"`
}

// Validate returns an error that says what is wrong and how to mend it.
func (s Spec) Validate() error {
	for _, f := range []struct {
		name     string
		val      int
		low, top int
	}{
		{"samples", s.Samples, 1, maxSamples},
		{"nodes", s.Nodes, 1, balance.MaxNodes},
		{"ranks per node", s.RanksPerNode, 1, maxRanks},
		{"batch size", s.BatchSize, 1, maxSamples},
		{"epochs", s.Epochs, 1, maxEpochs},
		{"buffer samples", s.BufferSamples, 0, math.MaxInt},
		{"samples per chunk", s.Chunk, 0, maxSamples},
		{"block chunks", s.BlockChunks, 0, maxSamples},
	} {
		if f.val < f.low || f.val > f.top {
			return fmt.Errorf("%s is %d; give a number from %d to %d", f.name, f.val, f.low, f.top)
		}
	}
	if s.Ranks() > maxRanks {
		return fmt.Errorf("%d nodes with %d ranks each are more than %d ranks; give fewer", s.Nodes, s.RanksPerNode, maxRanks)
	}
	if s.BatchSize > maxGlobal/s.Ranks() {
		return fmt.Errorf("batch size %d on %d ranks makes a global batch of more than %d samples; give a smaller one", s.BatchSize, s.Ranks(), int64(maxGlobal))
	}
	return s.validateRest()
}

func (s Spec) validateRest() error {
	if err := s.validateStrategy(); err != nil {
		return err
	}
	if !slices.Contains([]string{OrderTorch, OrderSequential, OrderBlock}, s.Order) {
		return fmt.Errorf("order is %q; give %q, %q or %q", s.Order, OrderTorch, OrderSequential, OrderBlock)
	}
	if (s.Order == OrderBlock) != (s.BlockChunks > 0) {
		return fmt.Errorf("%d chunks are to be shuffled together in order %q; give 1 or more to order %q, and to no other", s.BlockChunks, s.Order, OrderBlock)
	}
	for f, c := range s.ChunkSamples {
		if c < 1 {
			return fmt.Errorf("field %d has %d samples per storage chunk; give 1 where it is contiguous", f, c)
		}
	}
	if s.Steps() == 0 {
		return fmt.Errorf("no step is left: %d samples do not fill one global batch of %d ranks x %d, and the short one is dropped; give fewer ranks, a smaller batch size, or keep the last batch",
			s.Samples, s.Ranks(), s.BatchSize)
	}
	if most := balance.MaxSteps(s.Nodes); s.Steps() > most {
		return fmt.Errorf("%d steps are more than an epoch can have here (%d); give a larger batch size", s.Steps(), most)
	}
	return nil
}

func (s Spec) validateStrategy() error {
	if s.Strategy != "" && strategies[s.Strategy].make == nil {
		return fmt.Errorf("there is no strategy %q; give one of %s", s.Strategy, strings.Join(Strategies(), ", "))
	}
	if s.Strategy == Solar && s.Epochs > maxOrdered {
		return fmt.Errorf("strategy %s orders %d epochs at most, not %d: its search takes E x E x N operations; give another strategy", Solar, maxOrdered, s.Epochs)
	}
	if !(s.MaxImbalance >= 0 && s.MaxImbalance < 1) {
		return fmt.Errorf("max imbalance is %v; give a fraction of the batch size from 0 to below 1", s.MaxImbalance)
	}
	if len(s.Visit) == 0 {
		return nil
	}
	seen := make([]bool, s.Epochs)
	for _, e := range s.Visit {
		if e < 0 || e >= s.Epochs || seen[e] || len(s.Visit) != s.Epochs {
			return fmt.Errorf("the epochs visited are no order of 0..%d", s.Epochs-1)
		}
		seen[e] = true
	}
	return nil
}

// Ranks is the number of training processes.
func (s Spec) Ranks() int { return s.Nodes * s.RanksPerNode }

// perRank is how many samples DistributedSampler gives each rank (its num_samples).
func (s Spec) perRank() int {
	if s.DropLast {
		return s.Samples / s.Ranks()
	}
	return ceilDiv(s.Samples, s.Ranks())
}

// Steps is the number of steps of each epoch.
func (s Spec) Steps() int {
	if s.DropLast {
		return s.perRank() / s.BatchSize
	}
	return ceilDiv(s.perRank(), s.BatchSize)
}

// Rows is a rank's equal share of that step: BatchSize, fewer in a short last step.
func (s Spec) Rows(step int) int {
	return min(s.BatchSize, s.perRank()-step*s.BatchSize)
}

// shape is what the strategies need of the spec.
func (s Spec) shape() balance.Shape {
	steps := s.Steps()
	return balance.Shape{
		Samples: s.Samples, Nodes: s.Nodes, Steps: steps, Buffer: s.BufferSamples,
		Slots: s.RanksPerNode * s.Rows(0), TailSlots: s.RanksPerNode * s.Rows(steps-1),
		Ranks: s.RanksPerNode, Imbalance: s.MaxImbalance,
	}
}

// MaxRows is the largest batch that a rank may have: BatchSize where batches are equal.
func (s Spec) MaxRows() int { return s.shape().Most(s.RanksPerNode*s.Rows(0)) / s.RanksPerNode }

// Positions is the number of samples that all ranks use in one epoch, repeats counted.
func (s Spec) Positions() int {
	if s.DropLast {
		return s.Steps() * s.BatchSize * s.Ranks()
	}
	return s.perRank() * s.Ranks()
}

// regular is how many positions of an epoch are not repeats. They come first.
func (s Spec) regular() int { return min(s.Positions(), s.Samples) }

// allBuffers is the bound's B: how many samples all buffers hold together.
func (s Spec) allBuffers() int {
	if s.BufferSamples >= ceilDiv(s.Samples, s.Nodes) {
		return s.Samples
	}
	return s.Nodes * s.BufferSamples
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
