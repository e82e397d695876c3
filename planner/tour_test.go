package planner

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// graphOf takes the costs from each epoch, row by row.
func graphOf(rows [][]uint32) *EpochGraph {
	g := newGraph(len(rows))
	for u, row := range rows {
		for v, cost := range row {
			*g.cost(u, v) = cost
		}
	}
	return g
}

// randomGraph has costs 0 .. top.
func randomGraph(r *rand.Rand, epochs, top int) *EpochGraph {
	rows := make([][]uint32, epochs)
	for u := range rows {
		for range epochs {
			rows[u] = append(rows[u], r.Uint32N(uint32(top+1)))
		}
	}
	return graphOf(rows)
}

// small is a ring 2 -> 0 -> 3 -> 1 -> 2 of cheap ways with the dearest of them, from 1 to 2, left open. Going to the nearest from 0
// ends at the dear way from 1 to 2; from 2 it finds the ring.
var small = [][]uint32{
	{0, 5, 9, 1},
	{6, 0, 4, 8},
	{2, 7, 0, 9},
	{9, 3, 5, 0},
}

func checkPath(t *testing.T, g *EpochGraph, p Path) {
	t.Helper()
	if !slices.Equal(slices.Sorted(slices.Values(p.Order)), g.Torch().Order) {
		t.Fatalf("%v is no order of %d epochs", p.Order, g.epochs)
	}
	if cost := g.path(p.Order).Cost; cost != p.Cost {
		t.Fatalf("the path %v costs %d, but %d is stated", p.Order, cost, p.Cost)
	}
}

func TestSmallGraph(t *testing.T) {
	g := graphOf(small)
	for _, c := range []struct {
		name string
		got  Path
		want string
	}{
		{"torch", g.Torch(), "{[0 1 2 3] 18}"},             // 5 + 4 + 9
		{"best", g.Best(), "{[2 0 3 1] 6}"},                // 2 + 1 + 3
		{"nearest", g.path(g.nearest(0)), "{[0 3 1 2] 8}"}, // 1 + 3 + 4
		{"nearest", g.path(g.nearest(1)), "{[1 2 0 3] 7}"}, // 4 + 2 + 1
		{"improved", g.improved([]int{0, 3, 1, 2}), "{[2 0 3 1] 6}"},
		{"swarm", g.Swarm(4), "{[2 0 3 1] 6}"}, // seed 4 starts at 2
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s is %s, want %s", c.name, got, c.want)
		}
	}
}

// A run of one, two, three epochs must move as it stands: on both sides of where it belongs stand four, which cannot.
func TestOrOptMovesRuns(t *testing.T) {
	for size := 1; size <= 3; size++ {
		n := 4 + size + 4
		g := newGraph(n)
		for i := range n * n {
			*g.cost(i/n, i%n) = 10
		}
		for i := range n - 1 {
			*g.cost(i, i+1) = 1
		}
		order := g.Torch().Order
		order = slices.Concat(order[:4], order[4+size:], order[4:4+size])
		if p := g.improved(order); !slices.Equal(p.Order, g.Torch().Order) || p.Cost != n-1 {
			t.Errorf("a run of %d: %v", size, p)
		}
	}
}

// Where all orders cost the same, nothing moves.
func TestTiesKeepTorchsOrder(t *testing.T) {
	for _, epochs := range []int{1, 2, 5, 12, 13, 20} {
		for _, order := range []string{OrderSequential, OrderTorch} {
			spec := Spec{Samples: 30, Nodes: 2, RanksPerNode: 1, BatchSize: 4, Epochs: epochs, Order: order, BufferSamples: 6}
			if order == OrderTorch {
				spec.BufferSamples = 15 * (epochs % 2) // nothing kept, or all
			}
			o := OrderEpochs(spec)
			if !slices.Equal(o.Best.Order, o.Torch.Order) || o.Best.Cost != o.Torch.Cost || o.Swarm.Cost != o.Torch.Cost {
				t.Errorf("%s, %d epochs: %+v", order, epochs, o)
			}
		}
	}
}

func TestOrderEpochs(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 2))
	for range 60 {
		spec := fillable(randomSpec(r))
		spec.Epochs = 1 + r.IntN(18)
		g, o := NewEpochGraph(spec), OrderEpochs(spec)
		for _, p := range []Path{o.Torch, o.Swarm, o.Best} {
			checkPath(t, g, p)
		}
		if o.Best.Cost > o.Torch.Cost || o.Exact != (spec.Epochs <= 12) || o.Exact && o.Best.Cost > o.Swarm.Cost {
			t.Fatalf("%+v: %+v", spec, o)
		}
		if again := OrderEpochs(spec); fmt.Sprint(again) != fmt.Sprint(o) {
			t.Fatalf("%+v: %+v, then %+v", spec, o, again)
		}
		spec.Visit = o.Best.Order
		if err := spec.Validate(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestEpochOrdersJSON(t *testing.T) {
	got, err := json.Marshal(OrderEpochs(Spec{Samples: 4, Nodes: 1, RanksPerNode: 1, BatchSize: 2, Epochs: 1, Order: OrderTorch, BufferSamples: 1}))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"torch":{"order":[0],"cost":0},"swarm":{"order":[0],"cost":0},"best":{"order":[0],"cost":0},"exact":true}`
	if string(got) != want {
		t.Errorf("%s, want %s", got, want)
	}
}
