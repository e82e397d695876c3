package balance

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestGroupsDivide(t *testing.T) {
	for _, c := range []struct {
		nodes, misses, batch int
		want                 string
	}{
		{3, 30, 30, "0-3"},
		{16, 160, 160, "0-16"},
		{16, 100, 160, "0-8 8-16"},
		{16, 80, 160, "0-16"},
		{64, 640, 640, "0-64"},
		{65, 650, 650, "0-32 32-65"},
		{64, 80, 640, "0-64"},
		{64, 160, 640, "0-32 32-64"},
		{20, 190, 200, "0-6 6-13 13-20"},
		{20, 0, 200, "0-20"},
	} {
		g := newGroups(c.nodes)
		g.divide(c.misses, c.batch)
		got := ""
		for i := range g.n() {
			got += fmt.Sprintf(" %d-%d", g.start[i], g.start[i+1])
		}
		if got[1:] != c.want {
			t.Errorf("%d nodes, %d of %d: %s, want %s", c.nodes, c.misses, c.batch, got[1:], c.want)
		}
	}
}

// Whatever hits the nodes have, all slots are filled, and while a node has room no sample goes to one that has none.
func TestTurnsFillAllSlots(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for range 300 {
		nodes, slots := 17+r.IntN(150), 1+r.IntN(5)
		s := New(Shape{Samples: nodes * slots, Nodes: nodes, Steps: 1, Slots: slots, TailSlots: slots, Buffer: slots, Ranks: 1}, 1)
		s.misses = s.misses[:0]
		s.groups.set(1 + r.IntN(len(s.groups.slots)))
		free, room := 0, 0
		for k := range nodes {
			s.size[k], s.fill[k], s.held[k] = slots, r.IntN(slots+1), r.IntN(slots+1)
			s.biases[k] = s.bias(k)
			free += slots - s.fill[k]
			room += max(0, min(slots-s.fill[k], slots-s.fill[k]-s.held[k]))
		}
		for i := range free {
			s.misses, s.when[i] = append(s.misses, uint32(i)), s.places.never
		}
		before := append([]int{}, s.fill...)
		s.dealInTurns()
		for i, k := range s.who[:free] {
			if before[k]++; before[k] > slots {
				t.Fatalf("node %d of %d gets more than %d samples", k, nodes, slots)
			}
			if i < room && before[k]+s.held[k] > slots {
				t.Fatalf("sample %d of %d with room goes to node %d of %d, which has none", i, room, k, nodes)
			}
		}
	}
}
