package planner

import "slices"

const (
	exactEpochs = 12 // up to here Best is a shortest path
	longestMove = 3  // epochs that or-opt moves together
)

// Exact says whether Best is a shortest path: up to 12 epochs.
func (g *EpochGraph) Exact() bool { return g.epochs <= exactEpochs }

// Best returns the cheapest path found: a shortest one (Held-Karp) up to 12 epochs. Beyond, each epoch is the start of a path
// that goes on to the nearest epoch not visited yet, each of these paths and torch's own is improved by or-opt, and the cheapest is
// taken. Ties go to the lower epoch, and to torch's order, than which it is never dearer. It takes some 10*E^3 operations and
// more. Sources: Held and Karp 1962; Or, PhD thesis, Northwestern University 1976.
func (g *EpochGraph) Best() Path {
	if g.Exact() {
		return g.shortest()
	}
	best := g.improved(g.Torch().Order)
	for start := range g.epochs {
		if p := g.improved(g.nearest(start)); p.Cost < best.Cost {
			best = p
		}
	}
	return best
}

// nearest goes from start on to the nearest epoch not visited yet, until all are.
func (g *EpochGraph) nearest(start int) []int {
	ahead := g.Torch().Order
	order := make([]int, 0, g.epochs)
	for i := start; ; {
		order = append(order, ahead[i])
		last := ahead[i]
		ahead = slices.Delete(ahead, i, i+1)
		if len(ahead) == 0 {
			return order
		}
		i = 0
		for j := range ahead {
			if g.Cost(last, ahead[j]) < g.Cost(last, ahead[i]) {
				i = j
			}
		}
	}
}

// improved applies or-opt to an order, in place: up to three epochs in a row move elsewhere as they stand, as long as any such
// move makes the path cheaper. Nothing is turned round, as costs are not symmetric.
func (g *EpochGraph) improved(order []int) Path {
	rest := make([]int, 0, g.epochs+1)
	for again := true; again; {
		again = false
		for size := 1; size <= min(longestMove, g.epochs-1); size++ {
			for from := range g.epochs - size + 1 {
				again = g.move(order, rest, from, size) || again
			}
		}
	}
	return g.path(order)
}

// move takes order[from:from+size] to where it costs least, and says whether that is elsewhere. rest is room for the other epochs
// and both ends.
func (g *EpochGraph) move(order, rest []int, from, size int) bool {
	var run [longestMove]int
	copy(run[:], order[from:from+size])
	first, last := run[0], run[size-1]
	rest = append(rest[:0], g.epochs)
	rest = append(rest, order[:from]...)
	rest = append(rest, order[from+size:]...)
	rest = append(rest, g.epochs)
	added := func(i int) int { return g.Cost(rest[i], first) + g.Cost(last, rest[i+1]) - g.Cost(rest[i], rest[i+1]) }
	to, least := from, added(from)
	for i := range len(rest) - 1 {
		if c := added(i); c < least {
			to, least = i, c
		}
	}
	copy(order, rest[1:to+1])
	copy(order[to:], run[:size])
	copy(order[to+size:], rest[to+1:len(rest)-1])
	return to != from
}
