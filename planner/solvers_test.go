package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// allOrders calls each with all orders of the epochs, in lexicographic order.
func allOrders(epochs int, each func(order []int)) {
	var grow func(order, ahead []int)
	grow = func(order, ahead []int) {
		if len(ahead) == 0 {
			each(order)
		}
		for i, e := range ahead {
			grow(append(order, e), slices.Delete(slices.Clone(ahead), i, i+1))
		}
	}
	grow(make([]int, 0, epochs), newGraph(epochs).Torch().Order)
}

func TestShortestAgainstAllOrders(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 3))
	for epochs := 1; epochs <= 8; epochs++ {
		for i := range 12 {
			g := randomGraph(r, epochs, []int{2, 9, 1 << 30}[i%3]) // few values: many ties
			best := g.Torch()
			allOrders(epochs, func(order []int) {
				if p := g.path(order); p.Cost < best.Cost {
					best = g.path(slices.Clone(order))
				}
			})
			if got := g.shortest(); fmt.Sprint(got) != fmt.Sprint(best) {
				t.Fatalf("%v: shortest %v, want %v", g.costs, got, best)
			}
		}
	}
}

func TestBetweenNearestAndShortest(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 4))
	better, reached := 0, 0
	for range 300 {
		g := randomGraph(r, 2+r.IntN(9), 1+r.IntN(100))
		shortest := g.shortest()
		for start := range g.epochs {
			nearest := g.path(g.nearest(start))
			checkPath(t, g, nearest)
			improved := g.improved(slices.Clone(nearest.Order))
			checkPath(t, g, improved)
			if improved.Cost > nearest.Cost || improved.Cost < shortest.Cost {
				t.Fatalf("%v from %d: nearest %v, improved %v, shortest %v", g.costs, start, nearest, improved, shortest)
			}
			if nearest.Order[0] != start {
				t.Fatalf("nearest from %d is %v", start, nearest)
			}
			if improved.Cost < nearest.Cost {
				better++
			}
			if improved.Cost == shortest.Cost {
				reached++
			}
		}
	}
	if better == 0 || reached == 0 {
		t.Errorf("or-opt was better %d times and the shortest %d times", better, reached)
	}
}

// Beyond 12 epochs Best is the cheapest over all starts, and no run of up to three epochs can move from where it stands, each looked at
// by making the path anew.
func TestBestOfManyEpochs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 5))
	differ := 0
	for range 40 {
		g := randomGraph(r, 13+r.IntN(8), 1000)
		p := g.Best()
		checkPath(t, g, p)
		for start := range g.epochs {
			one := g.improved(g.nearest(start))
			if one.Cost < p.Cost {
				t.Fatalf("from %d: %v, best %v", start, one, p)
			}
			if one.Cost > p.Cost {
				differ++
			}
		}
		checkNoMove(t, g, p)
	}
	if differ == 0 {
		t.Error("all starts end at the same cost")
	}
}

func checkNoMove(t *testing.T, g *EpochGraph, p Path) {
	t.Helper()
	for size := 1; size <= 3; size++ {
		for from := range g.epochs - size + 1 {
			run := p.Order[from : from+size]
			rest := slices.Delete(slices.Clone(p.Order), from, from+size)
			for to := range len(rest) + 1 {
				if q := g.path(slices.Insert(slices.Clone(rest), to, run...)); q.Cost < p.Cost {
					t.Fatalf("%v costs less than %v", q, p)
				}
			}
		}
	}
}

// Place 0 of order holds 3, which stands at 2 in best; after that swap best is 3 1 0 2, whose place 2 is not 2, which stands at 3.
func TestToward(t *testing.T) {
	g := newGraph(4)
	f := flight{graph: g, order: make([]int, 4), place: make([]int, 4)}
	if got, want := f.toward(nil, []int{3, 1, 2, 0}, []int{0, 1, 3, 2}), []swap{{0, 2}, {2, 3}}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Want is what the released code (utils/PSO.py) finds on the same costs when it draws the same random numbers.
func TestSwarmAsReleased(t *testing.T) {
	for _, c := range []struct {
		epochs int
		seed   int64
		want   string
	}{
		{5, 231, "{[1 3 2 0 4] 813}"},
		{8, 308, "{[7 5 6 4 3 1 0 2] 1413}"},
		{13, 385, "{[2 7 4 12 1 6 10 8 3 11 0 9 5] 2432}"},
	} {
		spec := Spec{Samples: 1000, Nodes: 1, RanksPerNode: 1, BatchSize: 64, Epochs: c.epochs, Seed: c.seed, Order: OrderTorch, BufferSamples: 300}
		if got := fmt.Sprint(OrderEpochs(spec).Swarm); got != c.want {
			t.Errorf("%d epochs: %s, want %s", c.epochs, got, c.want)
		}
	}
}

func TestSwarm(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 6))
	starts := map[int]bool{}
	for range 40 {
		g, seed := randomGraph(r, 1+r.IntN(14), 500), r.Int64()
		p := g.Swarm(seed)
		checkPath(t, g, p)
		if again := g.Swarm(seed); fmt.Sprint(again) != fmt.Sprint(p) {
			t.Fatalf("seed %d: %v, then %v", seed, p, again)
		}
		if want := int(newMT19937(uint64(seed)).uint32() % uint32(g.epochs)); p.Order[0] != want {
			t.Fatalf("seed %d: starts at %d, want %d", seed, p.Order[0], want)
		}
		starts[p.Order[0]] = true
	}
	if len(starts) < 5 {
		t.Errorf("all paths start at %v", starts)
	}
}
