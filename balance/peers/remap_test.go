package peers

import (
	"math/rand/v2"
	"slices"
	"testing"

	"solarfs/balance"
)

func TestSpread(t *testing.T) {
	for _, c := range []struct {
		n               int
		low, high, want []int
	}{
		{6, []int{0, 0, 0}, []int{9, 9, 9}, []int{2, 2, 2}},
		{7, []int{0, 0, 0}, []int{9, 9, 9}, []int{3, 2, 2}},
		{7, []int{0, 0, 0}, []int{1, 9, 9}, []int{1, 3, 3}},
		{8, []int{5, 0, 0}, []int{9, 9, 9}, []int{5, 2, 1}},
		{0, []int{0, 0, 0}, []int{9, 0, 9}, []int{0, 0, 0}},
		{4, []int{4, 0, 0}, []int{4, 0, 0}, []int{4, 0, 0}},
	} {
		r := newRemap(balance.Shape{Samples: 27, Nodes: 3, Steps: 1, Slots: 9, TailSlots: 9, Ranks: 1})
		r.low, r.high = c.low, c.high
		if r.spread(c.n); !slices.Equal(r.dealt.Loads, c.want) {
			t.Errorf("%d from %v to %v: %v, want %v", c.n, c.low, c.high, r.dealt.Loads, c.want)
		}
	}
}

// TestLatest compares the farthest next use with a plain search, over several turns of the ring.
func TestLatest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	shape := balance.Shape{Samples: 1 << 20, Nodes: 2, Steps: 25, Slots: 1, TailSlots: 1, Buffer: 1 << 20, Ranks: 1}
	p := newPending(shape, 3)
	var held [2][]int
	for now := range 5000 {
		for k := range held {
			for range r.IntN(3) {
				time := now + r.IntN(50)
				p.add(k, uint32(time), time)
				held[k] = append(held[k], time)
			}
			for sample, ok := p.take(k, now); ok; sample, ok = p.take(k, now) {
				at := slices.Index(held[k], now)
				if at < 0 || int(sample) != now {
					t.Fatalf("time %d, node %d: holds %d, want %v", now, k, sample, held[k])
				}
				held[k] = slices.Delete(held[k], at, at+1)
			}
			if len(held[k]) == 0 {
				continue
			}
			latest := p.latest(k)
			if want := slices.Max(held[k]); latest != want || p.held[k] != len(held[k]) {
				t.Fatalf("time %d, node %d: farthest %d of %d, want %d of %d", now, k, latest, p.held[k], want, len(held[k]))
			}
			if r.IntN(2) == 0 { // it gives way
				p.take(k, latest)
				held[k] = slices.Delete(held[k], slices.Index(held[k], latest), slices.Index(held[k], latest)+1)
			}
		}
	}
}
