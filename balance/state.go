package balance

import (
	"fmt"
	"math"
)

// Fate says what happens to a sample in a step on the node that processes it.
type Fate uint8

const (
	// Load: the sample is read from storage. Without this bit it is a hit: it is in the node's buffer.
	Load Fate = 1 << iota
	// Keep: the sample is in the node's buffer after the step. A hit without it leaves.
	Keep
)

// MaxNodes is the largest number of nodes: an owner is two bytes per sample, one value meaning nobody.
const MaxNodes = math.MaxUint16

const (
	nobody = math.MaxUint16 // owner of a sample that no buffer holds
	never  = math.MaxUint32 // next step of a sample that the next epoch does not use
)

// Shape is what stays the same over all epochs. Every epoch has Steps steps. Every node has Slots
// samples in each, but TailSlots (1..Slots) in the last.
type Shape struct {
	Samples, Nodes, Steps, Slots, TailSlots int
	Buffer                                  int // samples that one node's buffer holds
}

// State is what all buffers hold, carried from step to step. Not safe for concurrent use.
//
// Invariants between steps: owner[s] is the only node that holds s. held[k] counts the samples of node k
// and is at most Buffer. planned[t*Nodes+k] counts those of node k that step t of the next epoch uses.
// idle[k] lists those of node k that neither the rest of this epoch nor the next epoch uses.
//
// Memory: 6 bytes per sample, and 4 per step and node.
type State struct {
	shape   Shape
	owner   []uint16
	next    []uint32
	held    []int
	planned []uint32
	idle    [][]uint32
	last    bool // no epoch follows: nothing is kept
	more    bool // two epochs follow at least
	scratch
}

// scratch is reused by every step, so that a step allocates nothing.
type scratch struct {
	who     []uint16 // by position: the node that processes it
	when    []uint32 // by position: next[sample]
	fates   []Fate   // by position
	due     []uint32 // as Dealt.Samples: next[sample]
	regular []int    // by node: samples that are not repeats; they stand first
	biases  []uint64 // by node: its part of deal's key
	fill    []int    // by node: slots taken
	key     key
	pick    pick
	dealt   Dealt
}

// Dealt is one step's outcome. Slices are by node, then by position in the global batch. They are valid until the next Step.
type Dealt struct {
	Samples []uint32 // node k's are Samples[k*slots : (k+1)*slots]
	Fates   []Fate
	Loads   []int // by node
	// LeftOut counts samples that a node had room for but did not keep, since it has a hit for each of
	// its slots in their next step already. Each may be a load more in the next epoch: the price of equal batches.
	LeftOut int
	// Drops leave a buffer though their node does not process them in this step; ascending by node.
	Drops []Drop
}

// Drop is a sample that leaves the buffer of a node.
type Drop struct {
	Node   uint16
	Sample uint32
}

// New returns empty buffers. It panics if the shape breaks the limits said there: specs are checked before.
func New(shape Shape) *State {
	if shape.Samples < 1 || shape.Nodes < 1 || shape.Nodes > MaxNodes || shape.Steps < 1 ||
		shape.TailSlots < 1 || shape.TailSlots > shape.Slots || shape.Buffer < 0 {
		panic(fmt.Sprintf("balance: impossible shape %+v", shape))
	}
	batch := shape.Nodes * shape.Slots
	s := &State{
		shape:   shape,
		owner:   make([]uint16, shape.Samples),
		next:    make([]uint32, shape.Samples),
		held:    make([]int, shape.Nodes),
		planned: make([]uint32, shape.Steps*shape.Nodes),
		idle:    make([][]uint32, shape.Nodes),
		scratch: scratch{
			who: make([]uint16, batch), when: make([]uint32, batch), fates: make([]Fate, batch), due: make([]uint32, batch),
			regular: make([]int, shape.Nodes), biases: make([]uint64, shape.Nodes), fill: make([]int, shape.Nodes),
			key: newKey(batch), pick: newPick(shape.Slots),
			dealt: Dealt{Samples: make([]uint32, batch), Fates: make([]Fate, batch), Loads: make([]int, shape.Nodes)},
		},
	}
	for i := range s.owner {
		s.owner[i] = nobody
	}
	return s
}

// Begin starts an epoch. next is the order of the epoch after it, each sample at most once (so without
// padding), step by step; nil if this epoch is the last. more says that yet another epoch follows that one: only
// then is it worth keeping samples that next does not use.
func (s *State) Begin(next []uint32, more bool) {
	s.last, s.more = next == nil, more
	if s.last {
		return
	}
	if len(next) < len(s.next) {
		for i := range s.next {
			s.next[i] = never
		}
	}
	batch := s.shape.Nodes * s.shape.Slots
	for step := 0; len(next) > 0; step++ {
		n := min(batch, len(next))
		for _, sample := range next[:n] {
			s.next[sample] = uint32(step)
		}
		next = next[n:]
	}
	clear(s.planned)
	s.wake()
}

// wake counts idle samples that the next epoch does use: they wait for it in the buffer.
func (s *State) wake() {
	for k, idle := range s.idle {
		still := idle[:0]
		for _, sample := range idle {
			if step := s.next[sample]; step == never {
				still = append(still, sample)
			} else {
				s.planned[int(step)*s.shape.Nodes+k]++
			}
		}
		s.idle[k] = still
	}
}

func (s *State) slots(step uint32) int {
	if int(step) == s.shape.Steps-1 {
		return s.shape.TailSlots
	}
	return s.shape.Slots
}

// full reports whether node k already has a hit for each of its slots in that step of the next epoch.
func (s *State) full(step uint32, k int) bool {
	return int(s.planned[int(step)*s.shape.Nodes+k]) >= s.slots(step)
}
