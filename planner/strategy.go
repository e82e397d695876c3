package planner

import (
	"iter"
	"maps"
	"slices"

	"solarfs/balance"
	"solarfs/balance/chunked"
)

// policy decides who processes, loads and keeps what, step by step.
type policy interface {
	// Begin starts an epoch. fresh yields the orders (without repeats) of the epochs after it that it has not been told yet, the next
	// first; nil where none are left. more says that two epochs follow at least.
	Begin(fresh iter.Seq[[]uint32], more bool)
	// Step deals the next global batch, of whose positions those from regular on repeat samples. Valid until the next Step.
	Step(batch []uint32, regular int) *balance.Dealt
}

// strategy is how plans of one name are made.
type strategy struct {
	make  func(Spec) policy
	depth func(Spec) int // how many epochs ahead the policy looks
}

// Balanced is the strategy that solarfs plans by unless told otherwise.
const Balanced = "balanced"

var strategies = map[string]strategy{
	Balanced: {balanced, foresight},
}

// Strategies are the names that Spec.Strategy can have, in order of the alphabet.
func Strategies() []string { return slices.Sorted(maps.Keys(strategies)) }

func (s Spec) strategy() string {
	if s.Strategy == "" {
		return Balanced
	}
	return s.Strategy
}

func balanced(s Spec) policy {
	switch {
	case s.Order == OrderBlock:
		return chunked.NewInPlace(s.shape(), s.block(), s.EpochOrder(0)[:s.regular()])
	case s.Chunk > 1:
		return chunked.New(s.shape(), s.Chunk, s.EpochOrder(0)[:s.regular()])
	}
	return balance.New(s.shape(), foresight(s))
}

// foresight is how many epochs ahead the balanced strategy looks: one, except where the buffers hold so much of the set that little is
// dealt anew in an epoch, and what is dealt must suit several.
func foresight(s Spec) int {
	const (
		from    = .97     // share of the set in buffers
		deepest = 32      // of which planning takes 5 times as long as of 1
		budget  = 1 << 28 // samples x epochs: 4 bytes of memory each
	)
	if s.Chunk > 1 || s.Order == OrderBlock || s.Nodes == 1 || float64(s.allBuffers()) < from*float64(s.regular()) {
		return 1
	}
	return max(1, min(s.Epochs-1, deepest, budget/s.Samples))
}
