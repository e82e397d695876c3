package balance

import (
	"fmt"
	"math"
)

// MaxNodes is the largest number of nodes: an owner is two bytes per sample, one value meaning nobody.
const MaxNodes = math.MaxUint16

// Shape is what stays the same over all epochs. Every epoch has Steps steps. A node's equal share of a step is Slots
// samples, TailSlots (1..Slots) in the last.
type Shape struct {
	Samples, Nodes, Steps, Slots, TailSlots int

	Buffer    int     // samples that one node's buffer holds
	Ranks     int     // of one node; Slots and TailSlots are multiples of it
	Imbalance float64 // how far a rank's batch may leave its equal share, as a fraction of it, 0 <= Imbalance < 1
}

// Check panics if the limits said there are broken: specs are checked before.
func (s Shape) Check() {
	if s.Samples < 1 || s.Nodes < 1 || s.Nodes > MaxNodes || s.Steps < 1 || s.Steps > MaxSteps(s.Nodes) || s.Ranks < 1 || s.Buffer < 0 || s.TailSlots < 1 ||
		s.TailSlots > s.Slots || s.Slots%s.Ranks != 0 || s.TailSlots%s.Ranks != 0 || s.Imbalance < 0 || s.Imbalance >= 1 {
		panic(fmt.Sprintf("balance: impossible shape %+v", s))
	}
}

// Batch is the number of samples of a full step over all nodes.
func (s Shape) Batch() int { return s.Nodes * s.Slots }

// SlotsOf is a node's equal share of a step.
func (s Shape) SlotsOf(step int) int {
	if step == s.Steps-1 {
		return s.TailSlots
	}
	return s.Slots
}

// tiny keeps a product such as 100 x 1.15 from falling short of its whole number.
const tiny = 1e-9

// Most is the largest number of samples that a node may have in a step whose equal share is slots.
func (s Shape) Most(slots int) int {
	rows := float64(slots / s.Ranks)
	return s.Ranks * int(rows*(1+s.Imbalance)+tiny)
}

// Least is the smallest; at least 1 for each rank.
func (s Shape) Least(slots int) int {
	rows := float64(slots / s.Ranks)
	return s.Ranks * int(math.Ceil(rows*(1-s.Imbalance)-tiny))
}
