package cache

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// loadsOf are loads of a new step, without files.
func loadsOf(n int) []item {
	s := &step{loads: make([]load, n), untaken: n}
	var out []item
	for i := range s.loads {
		out = append(out, item{s, &s.loads[i]})
	}
	return out
}

// The room is what the largest number of samples held from now on leaves, less what is in slots.
func TestSlotsRoom(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 72))
	for range 200 {
		const all = 100
		held := []int{rng.IntN(50)}
		s := newSlots(all, held[0])
		var inSlots []int // of the planned steps
		for range 60 {
			// The last step's own loads find room in what it lets go of.
			room := all - slices.Max(held[:max(1, len(held)-1)]) - sum(inSlots)
			switch {
			case rng.IntN(2) == 0:
				held, inSlots = append(held, rng.IntN(50)), append(inSlots, 0)
				s.planned(held[len(held)-1])
			case len(inSlots) > 0 && rng.IntN(2) == 0:
				s.committed(inSlots[0])
				held, inSlots = held[1:], inSlots[1:]
			case len(inSlots) > 0 && room >= 0:
				n := rng.IntN(room + 1)
				if got, _, err := s.grant(t.Context(), loadsOf(n), spare{}); err != nil || len(got) != n {
					t.Fatalf("%d of %d loads: %v", len(got), n, err)
				}
				inSlots[rng.IntN(len(inSlots))] += n
			}
			if got, want := s.roomLocked(), all-slices.Max(held[:max(1, len(held)-1)])-sum(inSlots); got != want {
				t.Fatalf("room %d, not %d", got, want)
			}
		}
	}
}

func sum(ns []int) (total int) {
	for _, n := range ns {
		total += n
	}
	return total
}

// A call waits for slots; what the commit waits for goes first, straight into files; riders without room are left out.
func TestSlotsHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSlots(10, 4)
		s.planned(4)
		first, second := loadsOf(4), loadsOf(5)
		if got, _, err := s.grant(t.Context(), slices.Clone(second), spare{}); err != nil || len(got) != 5 || got[0].slot != inSlot {
			t.Fatal(got, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, _, err := s.grant(ctx, slices.Clone(first), spare{}); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("4 loads in one slot: %v", err)
		}
		st := first[0].step
		st.loads[2].rider, st.loads[3].rider = true, true
		time.AfterFunc(time.Minute, func() {
			s.place(st, [][]*batchFile{})
			s.awaits(st)
		})
		_, urgent, err := s.grant(t.Context(), slices.Clone(first), spare{})
		if urgent != st || err != nil {
			t.Fatal(urgent, err)
		}
		got, leftOut := s.hurry(st)
		if len(got) != 3 || got[0].slot != inFile || got[2].slot != inSlot || leftOut != 1 || st.untaken != 0 {
			t.Errorf("%d loads, %d left out", len(got), leftOut)
		}
	})
}

// What is left to the next sweep is read if there is room to spare, and what stands beside if there is more.
func TestSlotsToSpare(t *testing.T) {
	for _, c := range []struct {
		spare spare
		want  int // of three loads, three left to the next sweep between, and two beside
	}{{spare{0, 0}, 8}, {spare{2, 2}, 6}, {spare{3, 3}, 5}, {spare{1, 1}, 7}, {spare{0, 2}, 6}, {spare{0, 1}, 7}, {spare{5, 5}, 3}, {spare{9, 9}, 3}} {
		s := newSlots(10, 2)
		call := loadsOf(8)
		for i := range 5 {
			call[i+2].later, call[i+2].beside = true, i > 2
		}
		got, _, err := s.grant(t.Context(), call, c.spare)
		if err != nil || len(got) != c.want {
			t.Errorf("%d loads are read, not %d, where %+v slots are to be spared (%v)", len(got), c.want, c.spare, err)
		}
	}
}
