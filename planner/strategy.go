package planner

import (
	"iter"
	"maps"
	"slices"

	"solarfs/balance"
	"solarfs/balance/chunked"
	"solarfs/balance/peers"
)

// policy decides who processes, loads and keeps what, step by step.
type policy interface {
	// Begin starts an epoch. fresh yields the orders (without repeats) of the epochs after it that it has not been told yet, the next
	// first; nil where none are left. They are valid until the next is yielded. more says that two epochs follow at least.
	Begin(fresh iter.Seq[[]uint32], more bool)
	// Step deals the next global batch, of whose positions those from regular on repeat samples. Valid until the next Step.
	Step(batch []uint32, regular int) *balance.Dealt
}

// strategy is how plans of one name are made.
type strategy struct {
	make   func(s Spec, first []uint32) policy // first is the order of the first epoch, without repeats
	depth  func(Spec) int                      // how many epochs ahead the policy looks, 1 at least
	remote bool                                // nodes read each other's memory, which no mount can
}

// The names of the strategies. Balanced is what solarfs plans by unless told otherwise, Solar the paper's method; the others are what other
// systems do. See package balance/peers for what each is.
const (
	Balanced = "balanced"
	Solar    = "solar"
	Belady   = "belady"
	Pinned   = "pinned"
	LRU      = "lru"
	NoCache  = "none"
	Locality = "locality"
	NoPFS    = "nopfs"
)

var strategies = map[string]strategy{
	Balanced: {make: balanced, depth: foresight},
	Solar:    {make: func(s Spec, _ []uint32) policy { return peers.NewSolar(s.shape()) }, depth: nextOnly},
	Belady:   {make: func(s Spec, _ []uint32) policy { return peers.NewBelady(s.shape(), horizon(s)) }, depth: horizon},
	Pinned:   {make: func(s Spec, _ []uint32) policy { return peers.NewPinned(s.shape()) }, depth: nextOnly},
	LRU:      {make: func(s Spec, _ []uint32) policy { return peers.NewLRU(s.shape()) }, depth: nextOnly},
	NoCache:  {make: func(s Spec, _ []uint32) policy { return peers.NewNone(s.shape()) }, depth: nextOnly},
	Locality: {make: func(s Spec, _ []uint32) policy { return peers.NewLocality(s.shape()) }, depth: nextOnly, remote: true},
	NoPFS:    {make: noPFS, depth: func(s Spec) int { return s.Epochs }, remote: true},
}

// Strategies are the names that Spec.Strategy can have, in order of the alphabet.
func Strategies() []string { return slices.Sorted(maps.Keys(strategies)) }

// Mountable tells whether mounts can run plans of a strategy: it has that name (empty: balanced), and no node reads another's memory.
func Mountable(name string) bool {
	how, ok := strategies[Spec{Strategy: name}.strategy()]
	return ok && !how.remote
}

func (s Spec) strategy() string {
	if s.Strategy == "" {
		return Balanced
	}
	return s.Strategy
}

func balanced(s Spec, first []uint32) policy {
	switch {
	case s.Order == OrderBlock:
		return chunked.NewInPlace(s.shape(), s.block(), first)
	case s.Chunk > 1:
		return chunked.New(s.shape(), s.Chunk, first)
	}
	return balance.New(s.shape(), foresight(s))
}

func noPFS(s Spec, first []uint32) policy {
	return peers.NewNoPFS(s.shape(), s.Epochs, first)
}

func nextOnly(Spec) int { return 1 }

func horizon(s Spec) int { return peers.Horizon(s.shape(), s.Epochs) }

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
