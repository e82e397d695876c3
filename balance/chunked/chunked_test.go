package chunked

import (
	"fmt"
	"slices"
	"testing"

	"solarfs/balance"
)

// show writes a step's outcome: by node each sample with + for a load, ' for a hit, k where it is kept; then riders and drops.
func show(d *balance.Dealt) (out string) {
	for k := range d.Loads {
		if k > 0 {
			out += " |"
		}
		samples, fates := d.Node(k)
		for i, s := range samples {
			out += fmt.Sprintf(" %d%s", s, []string{"'", "+", "'k", "+k"}[fates[i]])
		}
	}
	if len(d.Riders) > 0 {
		out += fmt.Sprintf(" riders %v", d.Riders)
	}
	if len(d.Drops) > 0 {
		out += fmt.Sprintf(" drops %v", d.Drops)
	}
	return out[1:]
}

func play(t *testing.T, s *State, epochs [][]uint32, want ...string) {
	t.Helper()
	for e, order := range epochs {
		s.Begin(slices.Values(epochs[e+1:min(e+2, len(epochs))]), true)
		for batch := range slices.Chunk(order, s.shape.Batch()) {
			got := show(s.Step(batch, len(batch)))
			if len(want) == 0 || got != want[0] {
				t.Fatalf("epoch %d: %s, want %q", e, got, want)
			}
			want = want[1:]
		}
	}
}

// One node, two chunks of three samples, room for all: each chunk is read once, and never again.
func TestRidersSaveReads(t *testing.T) {
	shape := balance.Shape{Samples: 6, Nodes: 1, Steps: 3, Slots: 2, TailSlots: 2, Ranks: 1, Buffer: 6}
	epochs := [][]uint32{{0, 3, 1, 4, 2, 5}, {5, 4, 3, 2, 1, 0}}
	s := New(shape, 3, epochs[0])
	s.seen[0] = 3 // both chunks have been read before: the first read is no exception
	play(t, s, epochs,
		"0+k 3+k riders [{0 1} {0 2} {0 4} {0 5}]", // 0 is due at the end of the next epoch, within reach
		"1'k 4'k",
		"2'k 5'k",
		"5' 4'", "3' 2'", "1' 0'",
	)
}

// Room for two: the sample that is needed soonest stays, the one needed last gives way.
func TestFarthestGivesWay(t *testing.T) {
	shape := balance.Shape{Samples: 6, Nodes: 1, Steps: 6, Slots: 1, TailSlots: 1, Ranks: 1, Buffer: 2}
	epochs := [][]uint32{{0, 3, 1, 4, 2, 5}}
	s := New(shape, 3, epochs[0])
	s.seen[0], s.reach = 3, 12
	play(t, s, epochs,
		"0+ riders [{0 1} {0 2}]",
		"3+ riders [{0 4}] drops [{0 2}]", // 4 is due before 2, 5 after it
		"1'",
		"4'",
		"2+",
		"5+",
	)
}

// Two nodes of one slot: a node holds one sample for a step at most; the other goes where there is room when the chunk is read again.
func TestFullStepsAreNotOverbooked(t *testing.T) {
	shape := balance.Shape{Samples: 4, Nodes: 2, Steps: 2, Slots: 1, TailSlots: 1, Ranks: 1, Buffer: 4}
	epochs := [][]uint32{{0, 3, 1, 2}}
	s := New(shape, 4, epochs[0])
	s.seen[0], s.reach = 1, 4
	play(t, s, epochs,
		"0+ | 3+ riders [{0 1} {1 2}]", // both read the chunk; each takes one of the two that step 1 needs
		"1' | 2'",
	)
}

// A hit is not held for later if its chunk is read before that anyhow.
func TestHitOfAChunkThatIsReadSoonerLeaves(t *testing.T) {
	shape := balance.Shape{Samples: 4, Nodes: 1, Steps: 4, Slots: 1, TailSlots: 1, Ranks: 1, Buffer: 1}
	epochs := [][]uint32{{0, 1, 2, 3}, {3, 2, 0, 1}}
	s := New(shape, 2, epochs[0])
	s.seen[0], s.reach = 3, 8
	play(t, s, epochs,
		"0+ riders [{0 1}]",
		"1'", // there is room, but in the next epoch 0 is due before 1
		"2+ riders [{0 3}]",
		"3'k",
		"3'", "2+", "0+ riders [{0 1}]", "1'",
	)
}

func TestPhasesAreSpread(t *testing.T) {
	var tenths [10]int
	for chunk := range uint32(10_000) {
		tenths[int(phase(chunk)*10)]++
	}
	for i, n := range tenths {
		if n < 990 || n > 1010 {
			t.Errorf("%d of 10000 phases in tenth %d", n, i)
		}
	}
}

// A buffer for the whole set reads each chunk once, though siblings meet in a batch and leave it by different times.
func TestWholeSetIsReadOnce(t *testing.T) {
	shape := balance.Shape{Samples: 4, Nodes: 1, Steps: 2, Slots: 2, TailSlots: 2, Ranks: 1, Buffer: 4}
	epochs := [][]uint32{{0, 2, 1, 3}, {2, 0, 3, 1}, {0, 3, 2, 1}} // 2, before 0 in the batch, is due after it
	s := New(shape, 4, epochs[0])
	play(t, s, epochs,
		"0+k 2+k riders [{0 1} {0 3}]", "1'k 3'k",
		"2'k 0'k", "3'k 1'k",
		"0' 3'", "2' 1'",
	)
}
