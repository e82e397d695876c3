package planner

import "math"

// shortest returns the shortest path, of those the first in lexicographic order. It takes E^2*2^E operations and 8*E*2^E bytes.
//
// Source: Held and Karp, A dynamic programming approach to sequencing problems, 1962, from the path's end to its start.
func (g *EpochGraph) shortest() Path {
	onward := g.onward()
	order := make([]int, 0, g.epochs)
	last := g.epochs // none
	for ahead := uint(1)<<g.epochs - 1; ahead != 0; ahead &^= 1 << last {
		next, least := 0, math.MaxInt
		for e := range g.epochs {
			if ahead>>e&1 == 0 {
				continue
			}
			if c := g.Cost(last, e) + onward[ahead&^(1<<e)][e]; c < least {
				next, least = e, c
			}
		}
		last = next
		order = append(order, last)
	}
	return g.path(order)
}

// onward returns, by set of epochs (bit e: epoch e) and an epoch outside of it, the least cost of going on from that epoch
// through all of the set.
func (g *EpochGraph) onward() [][]int {
	costs := make([][]int, 1<<g.epochs)
	for set := range costs {
		costs[set] = make([]int, g.epochs)
		for last := range g.epochs {
			if set == 0 || set>>last&1 == 1 {
				continue
			}
			least := math.MaxInt
			for e := range g.epochs {
				if set>>e&1 == 1 {
					least = min(least, g.Cost(last, e)+costs[set&^(1<<e)][e])
				}
			}
			costs[set][last] = least
		}
	}
	return costs
}
