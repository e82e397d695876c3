package storage

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// oracle is a job on which the plan and the sweeps are executed sample by sample.
type oracle struct {
	samples, nodes, step, epochs int
	kept                         float64
}

// load is one load of a node, in the order of steps.
type load struct{ step, sample int }

// loads gives each node's loads after the first epoch. As in the plan each node keeps as many of a step's samples as were hits, those whose next step
// needs fewest kept ones so far; who loads a miss that is not kept goes by place.
func (o oracle) loads(r *rand.Rand) [][]load {
	global := o.nodes * o.step
	steps := o.samples / global
	out := make([][]load, o.nodes)
	holder := slices.Repeat([]int{-1}, o.samples)
	order := r.Perm(o.samples)
	for e := range o.epochs {
		next := r.Perm(o.samples)
		due := make([]int, o.samples)
		for i, s := range next {
			due[s] = i / global
		}
		planned := make([]int, o.nodes*(steps+1))
		quota := 0.0
		for t := range steps {
			batch := order[t*global:][:global]
			mine, misses := make([][]int, o.nodes), []int{}
			for _, s := range batch {
				if k := holder[s]; k >= 0 && len(mine[k]) < o.step {
					mine[k] = append(mine[k], s)
				} else {
					misses = append(misses, s)
				}
				holder[s] = -1
			}
			r.Shuffle(len(misses), func(i, j int) { misses[i], misses[j] = misses[j], misses[i] })
			quota += o.kept * float64(o.step)
			free, keep := 0, make([]int, o.nodes)
			for k := range mine {
				if keep[k] = len(mine[k]); e == 0 {
					keep[k] = int(quota)
				}
			}
			quota -= math.Floor(quota)
			var rest []int // misses that are not kept
			for k := range mine {
				share := o.step - len(mine[k])
				fresh := misses[free:][:share] // candidates of this node
				free += share
				all := slices.DeleteFunc(append(slices.Clone(mine[k]), fresh...), func(s int) bool { return due[s] == steps }) // of no full step
				at := func(s int) *int { return &planned[k*(steps+1)+due[s]] }
				r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
				slices.SortStableFunc(all, func(a, b int) int { return cmp.Compare(*at(a), *at(b)) })
				for _, s := range all[:min(keep[k], len(all))] {
					if *at(s) < o.step {
						holder[s] = k
						*at(s)++
					}
				}
				for _, s := range fresh {
					if holder[s] == k {
						mine[k] = append(mine[k], s)
						if e > 0 {
							out[k] = append(out[k], load{(e-1)*steps + t, s})
						}
					} else {
						rest = append(rest, s)
					}
				}
			}
			slices.Sort(rest)
			for k := range mine {
				n := o.step - len(mine[k])
				for _, s := range rest[:n] {
					if e > 0 {
						out[k] = append(out[k], load{(e-1)*steps + t, s})
					}
				}
				rest = rest[n:]
			}
		}
		order = next
	}
	return out
}

// visit is a load at the sweep that reads it.
type visit struct {
	load
	clock float64 // the sweep's number, and how far it is
}

// elevator lays sweeps of period loads over a node's loads: each is read where the sweep passes it and the clock is beyond its number for the
// first time.
func elevator(loads []load, period float64) []visit {
	rank := make([]int, len(loads))
	for i := range rank {
		rank[i] = i
	}
	slices.SortStableFunc(rank, func(a, b int) int { return cmp.Compare(loads[a].sample, loads[b].sample) })
	visits := make([]visit, len(loads))
	for place, i := range rank {
		far := float64(place) / float64(len(loads))
		sweep := math.Ceil(float64(i)/period - far)
		visits[i] = visit{loads[i], max(0, sweep) + far}
	}
	return visits
}

// count counts what the sweeps read of a field over gaps of up to gap chunks, and their loads. The first sweep has no full window yet, the last two lack loads.
func count(visits []visit, f Field, gap int) (d Demand, loads int) {
	sorted := slices.Clone(visits)
	slices.SortFunc(sorted, func(a, b visit) int { return cmp.Compare(a.clock, b.clock) })
	last := math.Floor(sorted[len(sorted)-1].clock) - 1
	before := visit{clock: -1}
	for _, v := range sorted {
		sweep := math.Floor(v.clock)
		if sweep < 1 || sweep >= last {
			continue
		}
		loads++
		skip := v.sample/f.ChunkSamples - before.sample/f.ChunkSamples - 1
		switch {
		case sweep != math.Floor(before.clock) || skip > gap:
			d.Requests++
			d.Bytes += float64(f.ChunkBytes)
		case skip >= 0: // -1: the same chunk, or sample, again
			d.Bytes += float64(int(f.ChunkBytes) * (1 + skip))
		}
		before = v
	}
	return d, loads
}

// occupied gives the mean and the peak of the loads in memory, between the second and the last sweep but one. A reader takes a
// step as soon as all of it is there.
func occupied(visits []visit) (mean, peak float64) {
	type event struct {
		clock float64
		more  int
	}
	var events []event
	for from, there := 0, 0.0; from < len(visits); {
		to := from
		for to < len(visits) && visits[to].step == visits[from].step {
			there = max(there, visits[to].clock)
			events = append(events, event{visits[to].clock, 1})
			to++
		}
		events = append(events, event{there, from - to})
		from = to
	}
	slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.clock, b.clock), cmp.Compare(b.more, a.more)) })
	now, end, began := 0, math.Floor(events[len(events)-1].clock)-1, 1.0
	for _, e := range events {
		if e.clock >= 1 && e.clock < end {
			mean += float64(now) * (e.clock - began)
			began = e.clock
			peak = max(peak, float64(now+max(e.more, 0)))
		}
		now += e.more
	}
	return mean / (began - 1), peak
}

// The window's factor: sweeps that meet 2w loads occupy the memory of w, on any number of nodes.
func TestWindowHoldsHalfASweep(t *testing.T) {
	for _, c := range []struct {
		nodes  int
		kept   float64
		window float64 // of all nodes, part of the set
		peak   float64
	}{
		{1, 0, .2, 1.03}, {1, .2, .3, 1.03}, {1, .8, .05, 1.1}, {4, 0, .2, 1.1}, {4, .5, .1, 1.1}, {16, 0, .2, 1.25}, {16, .4, .1, 1.3},
	} {
		o := oracle{50000, c.nodes, 64, 6, c.kept}
		w := c.window * 50000 / float64(c.nodes)
		for k, loads := range o.loads(rand.New(rand.NewPCG(1, 2))) {
			mean, peak := occupied(elevator(loads, 2*w))
			if mean < .88*w || mean > 1.02*w || peak > c.peak*w {
				t.Errorf("%+v node %d: %.3f of the window in use, %.3f at the peak", c, k, mean/w, peak/w)
			}
		}
	}
}

// A look-ahead counted from the reader needs memory for all loads of a sweep.
func TestLookAheadFromReader(t *testing.T) {
	const period = 5000
	loads := oracle{20000, 1, 64, 5, 0}.loads(rand.New(rand.NewPCG(1, 2)))[0]
	place := make([]int, len(loads))
	for i := range place {
		place[i] = i
	}
	slices.SortStableFunc(place, func(a, b int) int { return cmp.Compare(loads[a].sample, loads[b].sample) })
	there, reader, held, peak := make([]bool, len(loads)), 0, 0, 0
	for reader < len(loads)-period {
		for _, i := range place {
			if !there[i] && i < reader+period {
				there[i] = true
				held++
			}
			peak = max(peak, held)
			for reader < len(loads) && there[reader] {
				reader++
				held--
			}
		}
	}
	if peak < .95*period {
		t.Errorf("%d loads in memory at the peak, of %d that a sweep looks ahead", peak, period)
	}
}
