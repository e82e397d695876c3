package peers

import (
	"math/rand/v2"
	"slices"
	"testing"

	"solarfs/balance"
)

// TestSolarGivesToOthers: what a node gives away is loaded by another node, batches stay within the cap, and where the cap leaves all
// nodes free the loads differ by one at most.
func TestSolarGivesToOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(22, 11))
	given, even := 0, 0
	for range 300 {
		nodes, slots, steps := 2+r.IntN(5), 1+r.IntN(8), 1+r.IntN(6)
		shape := balance.Shape{Samples: nodes * slots * steps, Nodes: nodes, Steps: steps, Slots: slots, TailSlots: slots, Ranks: 1,
			Buffer: r.IntN(slots*steps + 2), Imbalance: []float64{0, .1, .3, .5, .9}[r.IntN(5)]}
		p := NewSolar(shape)
		orders := make([][]uint32, 4)
		for e := range orders {
			for _, sample := range r.Perm(shape.Samples) {
				orders[e] = append(orders[e], uint32(sample))
			}
		}
		for e, order := range orders {
			p.Begin(slices.Values(orders[min(e+1, 3):min(e+2, 4)]), false)
			for batch := range slices.Chunk(order, shape.Batch()) {
				d := p.Step(batch, len(batch))
				free := true
				for k, loads := range d.Loads {
					samples, _ := d.Node(k)
					if len(samples) < shape.Least(slots) || len(samples) > shape.Most(slots) {
						t.Fatalf("%+v: a batch of %d", shape, len(samples))
					}
					free = free && (len(samples) > shape.Least(slots) || loads == 0) && len(samples) < shape.Most(slots)
				}
				for _, drop := range d.Drops {
					samples, _ := d.Node(int(drop.Node))
					if slices.Contains(samples, drop.Sample) {
						t.Fatalf("%+v: node %d gives %d away and processes it", shape, drop.Node, drop.Sample)
					}
					if slices.Contains(batch, drop.Sample) {
						given++
					}
				}
				if free {
					even++
					if slices.Max(d.Loads)-slices.Min(d.Loads) > 1 {
						t.Fatalf("%+v: loads %v", shape, d.Loads)
					}
				}
			}
		}
	}
	if given < 100 || even < 100 {
		t.Errorf("the shapes are too tame: %d given away, %d steps free", given, even)
	}
}
