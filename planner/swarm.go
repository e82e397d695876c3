package planner

import "slices"

const (
	swarmSteps = 1000
	// towardOwn of 2^32: the chance .9 that a swap toward a particle's own best is made. Those toward the swarm's best all are.
	towardOwn = 3_865_470_566
)

// particle is an order that moves, and the best that it has been.
type particle struct {
	order []int
	best  Path
}

// swap exchanges two places of an order.
type swap struct{ i, j int }

// Swarm returns the cheapest path that the particle swarm of SOLAR's released code meets: as many particles as epochs, 1000 steps,
// all random orders behind one random start, which never moves. In each step a particle's velocity is the swaps that tell its order from
// its own best, each made with chance .9, and those that tell it from the swarm's best, all made. Random numbers come from torch's
// generator with that seed. It takes some 10,000*E^2 operations.
//
// The swaps turn the best order into the particle's. Made on the particle's in that sequence they lead on; only backwards would they lead
// to the best order. That is kept as it is: with it the swarm gains more, since its particles do not gather.
//
// Source: ANL-FAIR-SBI/SOLAR dc23301, utils/PSO.py, after github.com/marcoscastro/tsp_pso.
func (g *EpochGraph) Swarm(seed int64) Path {
	random := newMT19937(uint64(seed))
	particles := g.particles(random)
	f := flight{g, random, make([]int, g.epochs), make([]int, g.epochs), nil}
	for range swarmSteps {
		best := leader(particles)
		for _, p := range particles {
			f.step(p, best)
		}
	}
	return leader(particles).best
}

// particles are as many random orders as there are epochs, equal ones left out.
func (g *EpochGraph) particles(random *mt19937) (all []*particle) {
	start := random.uint32() % uint32(g.epochs)
	for range g.epochs {
		order := make([]int, 1, g.epochs)
		order[0] = int(start)
		for _, e := range g.others(start, random) {
			order = append(order, int(e))
		}
		if !slices.ContainsFunc(all, func(p *particle) bool { return slices.Equal(p.order, order) }) {
			all = append(all, &particle{order, g.path(slices.Clone(order))})
		}
	}
	return all
}

// others are all epochs but one, shuffled.
func (g *EpochGraph) others(one uint32, random *mt19937) []uint32 {
	var rest []uint32
	for e := range uint32(g.epochs) {
		if e != one {
			rest = append(rest, e)
		}
	}
	shuffleForward(rest, random)
	return rest
}

// leader is the first of the particles with the cheapest best.
func leader(particles []*particle) *particle {
	return slices.MinFunc(particles, func(a, b *particle) int { return a.best.Cost - b.best.Cost })
}

// flight moves particles.
type flight struct {
	graph  *EpochGraph
	random *mt19937
	// Room for toward and step.
	order, place []int
	velocity     []swap
}

// step moves a particle once; best may be the particle itself.
func (f *flight) step(p, best *particle) {
	own := f.toward(f.velocity[:0], p.order, p.best.Order)
	all := f.toward(own, p.order, best.best.Order)
	f.velocity = all
	for i, s := range all {
		if i >= len(own) || f.random.uint32() < towardOwn {
			p.order[s.i], p.order[s.j] = p.order[s.j], p.order[s.i]
		}
	}
	if now := f.graph.path(p.order); now.Cost < p.best.Cost {
		copy(p.best.Order, now.Order)
		p.best.Cost = now.Cost
	}
}

// toward appends the swaps that turn the order best into order, place by place.
func (f *flight) toward(swaps []swap, order, best []int) []swap {
	copy(f.order, best)
	for i, e := range best {
		f.place[e] = i
	}
	for i, e := range order {
		if f.order[i] == e {
			continue
		}
		j := f.place[e]
		swaps = append(swaps, swap{i, j})
		f.order[j] = f.order[i]
		f.place[f.order[j]] = j
	}
	return swaps
}
