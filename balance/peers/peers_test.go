package peers

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"solarfs/balance"
)

type policy interface {
	Begin(fresh iter.Seq[[]uint32], more bool)
	Step(batch []uint32, regular int) *balance.Dealt
}

// show writes a step's outcome: by node each sample with + for a load, ' for a hit, ~ for a read from a peer, k where it is kept; then
// the drops.
func show(d *balance.Dealt) (out string) {
	for i, s := range d.Samples {
		if i > 0 && slices.Contains(d.Starts, i) {
			out += " |"
		}
		kind, kept := "'", ""
		if d.Fates[i]&balance.Load != 0 {
			kind = "+"
		}
		if d.Fates[i]&balance.Remote != 0 {
			kind = "~"
		}
		if d.Fates[i]&balance.Keep != 0 {
			kept = "k"
		}
		out += fmt.Sprintf(" %d%s%s", s, kind, kept)
	}
	if len(d.Drops) > 0 {
		out += fmt.Sprintf(" drops %v", d.Drops)
	}
	return out[1:]
}

// play steps through epochs, all of which are told at the first Begin, and compares every outcome.
func play(t *testing.T, p policy, shape balance.Shape, epochs [][]uint32, want ...string) {
	t.Helper()
	used := min(shape.Samples, len(epochs[0])) // the rest repeats
	var later [][]uint32
	for _, order := range epochs[1:] {
		later = append(later, order[:used])
	}
	for e, order := range epochs {
		p.Begin(slices.Values(later), e+2 < len(epochs))
		later = nil
		for step, batch := range slices.Collect(slices.Chunk(order, shape.Batch())) {
			d := p.Step(batch, max(0, min(len(batch), used-step*shape.Batch())))
			if got := show(d); len(want) == 0 || got != want[0] {
				t.Fatalf("epoch %d, step %d: %s, want %q", e, step, got, want)
			}
			want = want[1:]
			checkLoads(t, d)
		}
	}
	if len(want) > 0 {
		t.Errorf("no step for %q", want)
	}
}

func checkLoads(t *testing.T, d *balance.Dealt) {
	t.Helper()
	for k, want := range d.Loads {
		loads := 0
		_, fates := d.Node(k)
		for _, f := range fates {
			loads += int(f & balance.Load)
		}
		if loads != want {
			t.Errorf("node %d has %d loads, Loads says %d", k, loads, want)
		}
	}
}

// playNext is play for a policy that is told one epoch ahead.
func playNext(t *testing.T, p policy, shape balance.Shape, epochs [][]uint32, want ...string) {
	t.Helper()
	play(t, &oneAhead{policy: p}, shape, epochs, want...)
}

// oneAhead hands on one epoch with each Begin.
type oneAhead struct {
	policy
	later [][]uint32
}

func (o *oneAhead) Begin(fresh iter.Seq[[]uint32], more bool) {
	o.later = slices.AppendSeq(o.later, fresh)
	n := min(1, len(o.later))
	o.policy.Begin(slices.Values(o.later[:n]), more)
	o.later = o.later[n:]
}

// twoNodes has two steps of two slots. Torch gives node 0 the positions 0 and 2, node 1 the positions 1 and 3.
func twoNodes(buffer int) balance.Shape {
	return balance.Shape{Samples: 8, Nodes: 2, Steps: 2, Slots: 2, TailSlots: 2, Buffer: buffer, Ranks: 1}
}

func uneven(s balance.Shape) balance.Shape {
	s.Imbalance = .5
	return s
}

var three = [][]uint32{
	{0, 1, 2, 3, 4, 5, 6, 7}, // node 0: 0 2, 4 6; node 1: 1 3, 5 7
	{2, 1, 0, 4, 6, 3, 5, 7}, // node 0: 2 0, 6 5; node 1: 1 4, 3 7
	{6, 7, 0, 1, 2, 4, 3, 5}, // node 0: 6 0, 2 3; node 1: 7 1, 4 5
}

func TestNone(t *testing.T) {
	shape := twoNodes(3)
	playNext(t, NewNone(shape), shape, three,
		"0+ 2+ | 1+ 3+", "4+ 6+ | 5+ 7+",
		"2+ 0+ | 1+ 4+", "6+ 5+ | 3+ 7+",
		"6+ 0+ | 7+ 1+", "2+ 3+ | 4+ 5+",
	)
}

// Two ranks on each of two nodes, one row: torch gives node 0 the positions 0 and 1. Of 3 samples the fourth position repeats one.
func TestRanksAndRepeats(t *testing.T) {
	shape := balance.Shape{Samples: 3, Nodes: 2, Steps: 1, Slots: 2, TailSlots: 2, Buffer: 3, Ranks: 2}
	epochs := [][]uint32{{0, 1, 2, 0}, {0, 2, 1, 0}}
	playNext(t, NewNone(shape), shape, epochs, "0+ 1+ | 2+ 0+", "0+ 2+ | 1+ 0+")
	for _, p := range []policy{NewPinned(shape), NewLRU(shape)} {
		playNext(t, p, shape, epochs, "0+k 1+k | 2+k 0+", "0' 2+ | 1+ 0+")
	}
	playNext(t, NewBelady(shape, 1), shape, epochs, "0+k 1+ | 2+ 0+", "0' 2+ | 1+ 0+")
	playNext(t, NewLocality(shape), shape, epochs, "0+k 1+k | 2+k 0+", "0' 1' | 2' 0+")
	playNext(t, NewSolar(shape), shape, epochs, "0+k 2+k | 1+k 0+", "0' 2' | 1' 0+")
	play(t, NewNoPFS(shape, 2, []uint32{0, 1, 2}), shape, epochs, "0+k 1+k | 2+k 0+", "0' 2~ | 1~ 0+")
}

// The first three that a node loads stay: 0 2 4 and 1 3 5.
func TestPinned(t *testing.T) {
	shape := twoNodes(3)
	playNext(t, NewPinned(shape), shape, three,
		"0+k 2+k | 1+k 3+k", "4+k 6+ | 5+k 7+",
		"2'k 0'k | 1'k 4+", "6+ 5+ | 3'k 7+",
		"6+ 0' | 7+ 1'", "2' 3+ | 4+ 5'",
	)
}

// In the last epoch nothing enters, yet what is used displaces what was used longest ago: 5 and 3 leave in the last step.
func TestLRU(t *testing.T) {
	shape := twoNodes(3)
	playNext(t, NewLRU(shape), shape, three,
		"0+k 2+k | 1+k 3+k",
		"4+k 6+k | 5+k 7+k drops [{0 0} {1 1}]",
		"2'k 0+k | 1+k 4+k drops [{0 4} {1 3} {1 5}]",
		"6'k 5+k | 3+k 7'k drops [{0 2} {1 1}]",
		"6' 0' | 7' 1+ drops [{1 4}]",
		"2+ 3+ | 4+ 5+ drops [{0 5} {1 3}]",
	)
}

// A buffer smaller than a node's part of the batch holds the end of it.
func TestLRUSmallerThanTheBatch(t *testing.T) {
	shape := twoNodes(1)
	playNext(t, NewLRU(shape), shape, three,
		"0+ 2+k | 1+ 3+k",
		"4+ 6+k | 5+ 7+k drops [{0 2} {1 3}]",
		"2+ 0+k | 1+ 4+k drops [{0 6} {1 7}]",
		"6+ 5+k | 3+ 7+k drops [{0 0} {1 4}]",
		"6+ 0+ | 7' 1+ drops [{0 5}]",
		"2+ 3+ | 4+ 5+",
	)
}

// 2 gives way to 6, which node 0 uses a step sooner; node 0 never uses 4 again, though node 1 does.
func TestBelady(t *testing.T) {
	shape := twoNodes(2)
	play(t, NewBelady(shape, 2), shape, three,
		"0+k 2+k | 1+k 3+k", "4+ 6+ | 5+ 7+",
		"2'k 0'k | 1'k 4+", "6+k 5+ | 3' 7+k drops [{0 2}]",
		"6' 0' | 7' 1'", "2+ 3+ | 4+ 5+",
	)
}

// The first epoch fills the buffers with 0 2 4 and 1 3 5. Node 0 holds three of 2 1 0 4 and has room for two: it passes 4 on.
func TestLocality(t *testing.T) {
	shape := twoNodes(3)
	playNext(t, NewLocality(shape), shape, three,
		"0+k 2+k | 1+k 3+k", "4+k 6+ | 5+k 7+",
		"2'k 0'k | 1'k 4~", "6+ 7+ | 3'k 5'k",
		"6+ 0' | 7+ 1'", "2' 4' | 3' 5'",
	)
	playNext(t, NewLocality(uneven(shape)), shape, three,
		"0+k 2+k | 1+k 3+k", "4+k 6+ | 5+k 7+",
		"2'k 0'k 4'k | 1'k", "6+ 7+ | 3'k 5'k",
		"6+ 0' | 7+ 1'", "2' 4' | 3' 5'",
	)
}

// Node 0 uses 2 three times, 0 and 6 twice: 2 stays, and 0, which it uses first. Node 1 uses 1, 3, 5, 7 and 4 twice: 1 and 3 stay.
func TestNoPFS(t *testing.T) {
	shape := twoNodes(2)
	epochs := [][]uint32{three[0], three[1], {1, 0, 2, 6, 7, 4, 3, 5}}
	play(t, NewNoPFS(shape, 3, epochs[0]), shape, epochs,
		"0+k 2+k | 1+k 3+k", "4+ 6+ | 5+ 7+",
		"2'k 0'k | 1'k 4+", "6+ 5+ | 3'k 7+",
		"1~ 2' | 0~ 6+", "7+ 3~ | 4+ 5+",
	)
}

// Loads are dealt in turn. In the second epoch 2 gives way to 6, which is used a step sooner.
func TestSolar(t *testing.T) {
	shape := twoNodes(2)
	playNext(t, NewSolar(shape), shape, three,
		"0+k 2+k | 1+k 3+k", "4+ 6+ | 5+ 7+",
		"2'k 0'k | 1'k 4+", "6+k 7+ | 3'k 5+ drops [{0 2}]",
		"6' 0' | 7+ 1'", "2+ 5+ | 4+ 3'",
	)
}

// Node 0 holds three of the first step, node 1 three of the second. Equal batches give one away each; uneven ones do not, and
// where a node has room beyond its hits the loads are even.
func TestSolarUnevenBatches(t *testing.T) {
	shape := twoNodes(3)
	epochs := [][]uint32{three[0], {0, 2, 4, 6, 1, 3, 5, 7}}
	playNext(t, NewSolar(shape), shape, epochs,
		"0+k 2+k | 1+k 3+k", "4+k 6+ | 5+k 7+",
		"0' 2' | 4+ 6+ drops [{0 4}]", "5+ 7+ | 1' 3' drops [{1 5}]",
	)
	playNext(t, NewSolar(uneven(shape)), shape, epochs,
		"0+k 2+k | 1+k 3+k", "4+k 6+ | 5+k 7+",
		"0' 2' 4' | 6+", "7+ | 1' 3' 5'",
	)
	shape = uneven(twoNodes(2))
	playNext(t, NewSolar(shape), shape, epochs,
		"0+k 2+k | 1+k 3+k", "4+ 6+ | 5+ 7+",
		"0' 2' 4+ | 6+", "5+ | 1' 3' 7+",
	)
}

// What the next epoch does not use is not kept.
func TestDropLast(t *testing.T) {
	shape := balance.Shape{Samples: 5, Nodes: 1, Steps: 1, Slots: 4, TailSlots: 4, Buffer: 4, Ranks: 1}
	epochs := [][]uint32{{0, 1, 2, 3}, {1, 2, 3, 4}, {0, 1, 2, 3}}
	playNext(t, NewSolar(shape), shape, epochs, "0+ 1+k 2+k 3+k", "1'k 2'k 3'k 4+", "0+ 1' 2' 3'")
	play(t, NewBelady(shape, 2), shape, epochs, "0+k 1+k 2+k 3+k", "1'k 2'k 3'k 4+", "0' 1' 2' 3'")
}
