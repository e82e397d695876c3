package balance

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// show writes a step's outcome: by node each sample with + for a load, ' for a hit, k where it is kept; then the drops.
func show(d *Dealt) (out string) {
	for i, s := range d.Samples {
		if i > 0 && slices.Contains(d.Starts, i) {
			out += " |"
		}
		out += fmt.Sprintf(" %d%s", s, []string{"'", "+", "'k", "+k"}[d.Fates[i]])
	}
	if len(d.Drops) > 0 {
		out += fmt.Sprintf(" drops %v", d.Drops)
	}
	if d.LeftOut > 0 {
		out += fmt.Sprintf(" left out %d", d.LeftOut)
	}
	return out[1:]
}

// play steps through epochs, each a list of global batches of which the last may be short, and compares every outcome. repeats
// is the number of positions at the end of each epoch that repeat samples.
func play(t *testing.T, shape Shape, repeats int, epochs [][]uint32, want ...string) {
	t.Helper()
	state := New(shape, 1)
	batch := shape.Nodes * shape.Slots
	for e, order := range epochs {
		if e+1 < len(epochs) {
			state.Begin(slices.Values([][]uint32{epochs[e+1][:len(order)-repeats]}), e+2 < len(epochs))
		} else {
			state.Begin(nil, false)
		}
		for from := 0; from < len(order); from += batch {
			to := min(from+batch, len(order))
			got := show(state.Step(order[from:to], min(to, len(order)-repeats)-from))
			if len(want) == 0 || got != want[0] {
				t.Fatalf("epoch %d, position %d: %s, want %q", e, from, got, want)
			}
			want = want[1:]
		}
	}
}

func TestHitsStayAndMissesFillUp(t *testing.T) {
	play(t, Shape{Samples: 8, Nodes: 2, Steps: 2, Slots: 2, TailSlots: 2, Buffer: 2, Ranks: 1}, 0,
		[][]uint32{{0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 4, 5, 2, 3, 6, 7}, {0, 1, 2, 3, 4, 5, 6, 7}},
		// 0 to node 0 (tie, lower). 1 to node 1 (fewer slots taken). Both are kept, for step 0.
		"0+k 2+k | 1+k 3+k",
		"4+ 5+ | 6+ 7+",   // none is kept: neighbours in the file
		"0' 4+k | 1' 5+k", // step 0 of the last epoch has 2 (or 3) already, step 1 none
		"2'k 6+ | 3'k 7+",
		"0+ 2' | 1+ 3'",
		"4' 6+ | 5' 7+",
	)
}

// One node, room for one of three: the sample is kept whose step has fewest kept so far.
func TestKeepsForTheEmptiestStep(t *testing.T) {
	play(t, Shape{Samples: 6, Nodes: 1, Steps: 2, Slots: 3, TailSlots: 3, Buffer: 4, Ranks: 1}, 0,
		[][]uint32{{0, 1, 2, 3, 4, 5}, {0, 1, 3, 2, 4, 5}, {0, 1, 2, 3, 4, 5}},
		"0+k 1+k 2+k", // all fit: steps 0, 0, 1
		"3+ 4+k 5+",   // one more: step 1 has one kept, step 0 two; 4 stands before 5
		"0'k 1' 3+k",  // step 0 has 0, 1 and 2, step 1 has 4
		"2'k 4'k 5+",
		"0' 1+ 2'",
		"3' 4' 5+",
	)
}

// A short last step counts by its share: one kept of two slots weighs as two of four.
func TestShortStepIsScaled(t *testing.T) {
	s := New(Shape{Samples: 6, Nodes: 1, Steps: 2, Slots: 4, TailSlots: 2, Buffer: 6, Ranks: 1}, 1)
	s.Begin(slices.Values([][]uint32{nil}), false)
	s.planned[0], s.planned[1] = 1, 1
	copy(s.fates, []Fate{Load, Load})
	index, due := []uint32{0, 1}, []uint32{1, 0}
	if preferred, full := s.candidates(0, index, due, true); !slices.Equal(preferred, []uint32{1, 0}) || full != 0 {
		t.Errorf("preference %v, %d full; want the full-size step first", preferred, full)
	}
	s.planned[1] = 2
	if preferred, full := s.candidates(0, index, due, true); !slices.Equal(preferred, []uint32{1}) || full != 1 {
		t.Errorf("preference %v, %d full; two of two slots are full, one of four are not", preferred, full)
	}
}

// A node keeps no more for a step than it has slots there, though there is room.
func TestFullStepIsLeftOut(t *testing.T) {
	play(t, Shape{Samples: 4, Nodes: 2, Steps: 2, Slots: 1, TailSlots: 1, Buffer: 2, Ranks: 1}, 0,
		[][]uint32{{0, 1, 2, 3}, {0, 2, 1, 3}, {0, 3, 1, 2}},
		"0+k | 1+k",
		"3+k | 2+k",
		"0' | 2' left out 2", // 0 and 3 are both due in step 0, 2 and 1 in step 1
		"3'k | 1'k",
		"3' | 0+",
		"2+ | 1'",
	)
}

func TestRepeatsAreLoads(t *testing.T) {
	play(t, Shape{Samples: 3, Nodes: 2, Steps: 1, Slots: 2, TailSlots: 2, Buffer: 4, Ranks: 1}, 1,
		[][]uint32{{0, 1, 2, 0}, {2, 1, 0, 2}},
		"0+k 2+k | 1+k 0+",
		"2' 0' | 1' 2+",
	)
}

// Sample 3 is not used in epoch 1: it is kept while there is room, and gives way to one that is.
func TestIdleGivesWay(t *testing.T) {
	play(t, Shape{Samples: 5, Nodes: 1, Steps: 2, Slots: 2, TailSlots: 2, Buffer: 2, Ranks: 1}, 0,
		[][]uint32{{3, 0, 1, 2}, {0, 1, 2, 4}, {0, 1, 2, 3}},
		"3+k 0+k",
		"1+ 2+k drops [{0 3}]", // step 0 has one kept, step 1 none
		"0'k 1+",
		"2'k 4+",
		"0' 1+",
		"2' 3+",
	)
}

// Samples that waited idle on one node may be due in one step, more than it has slots: the rest leaves it and is loaded elsewhere.
func TestHitIsForcedAway(t *testing.T) {
	play(t, Shape{Samples: 6, Nodes: 2, Steps: 1, Slots: 1, TailSlots: 1, Buffer: 2, Ranks: 1}, 0,
		[][]uint32{{0, 1}, {2, 3}, {4, 5}, {0, 2}, {0, 2}},
		"0+k | 1+k",
		"2+k | 3+k",
		"4+ | 5+",
		"0'k | 2+k drops [{0 2} {1 3}]", // 3 is idle and gives way to 2
		"0' | 2'",
	)
}

func TestStepAllocatesNothing(t *testing.T) {
	const samples, nodes, slots = 6000, 5, 12
	r := rand.New(rand.NewPCG(1, 1))
	order := make([]uint32, samples)
	for i := range order {
		order[i] = uint32(i)
	}
	state := New(Shape{Samples: samples, Nodes: nodes, Steps: samples / nodes / slots, Slots: slots, TailSlots: slots, Buffer: 700, Ranks: 1}, 1)
	allocs := testing.AllocsPerRun(10, func() {
		next := slices.Clone(order) // this, and what hands it over
		r.Shuffle(samples, func(i, j int) { next[i], next[j] = next[j], next[i] })
		state.Begin(slices.Values([][]uint32{next}), true)
		for batch := range slices.Chunk(order, nodes*slots) {
			state.Step(batch, len(batch))
		}
		copy(order, next)
	})
	if allocs > 4 {
		t.Errorf("%v allocations in an epoch of %d steps", allocs, samples/nodes/slots)
	}
}

func TestMisuse(t *testing.T) {
	good := Shape{Samples: 8, Nodes: 2, Steps: 2, Slots: 2, TailSlots: 2, Buffer: 2, Ranks: 1}
	panics := func(name string, f func()) {
		defer func() {
			if recover() == nil {
				t.Errorf("%s: no panic", name)
			}
		}()
		f()
	}
	panics("no shape", func() { New(Shape{}, 1) })
	panics("a long tail", func() { s := good; s.TailSlots = 3; New(s, 1) })
	panics("a ragged batch", func() { New(good, 1).Step([]uint32{1, 2, 3}, 3) })
	panics("a long batch", func() { New(good, 1).Step([]uint32{1, 2, 3, 4, 5, 6}, 6) })
}

// TestKeyOfHugeBatches: counts that do not fit their bits are compared coarsely, and never mixed up with others.
func TestKeyOfHugeBatches(t *testing.T) {
	const batch = 1 << 32
	s := &State{shape: Shape{Nodes: 3, Buffer: batch, Ranks: 1}, held: make([]int, 3), scratch: scratch{key: newKey(batch), fill: []int{batch - 1, batch / 2, batch}, size: []int{batch, batch, batch}}}
	var biases []uint64
	for k := range 3 {
		biases = append(biases, s.bias(k))
	}
	for _, c := range []struct {
		planned []uint32
		want    int
	}{
		{[]uint32{5, 5, 0}, 1}, // both the same in planned: more free slots
		{[]uint32{0, 1<<32 - 1, 0}, 0},
		{[]uint32{1<<32 - 1, 1<<32 - 1, 0}, 1},
	} {
		if got := s.key.least(c.planned, biases); got != c.want {
			t.Errorf("planned %v: node %d, want %d", c.planned, got, c.want)
		}
	}
}

// TestKey compares the packed comparison with a plain one.
func TestKey(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	for range 3000 {
		nodes, slots := 1+r.IntN(9), 1+r.IntN(4)
		s := New(Shape{Samples: 1, Nodes: nodes, Steps: 1, Slots: slots, TailSlots: slots, Buffer: r.IntN(6), Ranks: 1}, 1)
		planned := make([]uint32, nodes)
		best := -1
		less := func(a, b int) bool {
			key := func(k int) []int {
				room := 0
				if s.held[k]+s.fill[k] >= s.shape.Buffer {
					room = 1
				}
				return []int{room, int(planned[k]), s.fill[k], k}
			}
			return slices.Compare(key(a), key(b)) < 0
		}
		for k := range nodes {
			planned[k], s.fill[k], s.held[k] = uint32(r.IntN(4)), r.IntN(slots+1), r.IntN(s.shape.Buffer+1)
			s.size[k] = slots
			s.biases[k] = s.bias(k)
		}
		for k := range nodes {
			if s.fill[k] < slots && (best < 0 || less(k, best)) {
				best = k
			}
		}
		if got := s.key.least(planned, s.biases); best >= 0 && got != best {
			t.Fatalf("node %d, want %d: planned %v, fill %v, held %v of %d", got, best, planned, s.fill, s.held, s.shape.Buffer)
		}
	}
}
