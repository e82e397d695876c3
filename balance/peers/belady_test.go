package peers

import (
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"solarfs/balance"
)

// fewest tries all that one node could keep: the least loads of its batches (of samples below 8), one after the other. What is
// kept after a step was at hand in it.
func fewest(batches [][]uint32, buffer int) int {
	const impossible = 1 << 30
	cost := slices.Repeat([]int{impossible}, 256) // by what the buffer holds, a bit each
	cost[0] = 0
	for _, batch := range batches {
		var used uint8
		for _, sample := range batch {
			used |= 1 << sample
		}
		next := slices.Repeat([]int{impossible}, 256)
		for held, before := range cost {
			if before == impossible {
				continue
			}
			loads := before + bits.OnesCount8(used&^uint8(held))
			for kept := range 256 {
				if uint8(kept)&^(uint8(held)|used) == 0 && bits.OnesCount8(uint8(kept)) <= buffer {
					next[kept] = min(next[kept], loads)
				}
			}
		}
		cost = next
	}
	return slices.Min(cost)
}

// shuffled are orders of 8 samples of which an epoch uses the first ones.
func shuffled(r *rand.Rand, epochs, used int) (all [][]uint32) {
	for range epochs {
		order := []uint32{0, 1, 2, 3, 4, 5, 6, 7}
		r.Shuffle(8, func(i, j int) { order[i], order[j] = order[j], order[i] })
		all = append(all, order[:used])
	}
	return all
}

func TestBeladyIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(1966, 5))
	for range 40 {
		nodes := 1 + r.IntN(2)
		slots := 1 + r.IntN(4/nodes)
		steps := 1 + r.IntN(8/(nodes*slots))
		shape := balance.Shape{Samples: 8, Nodes: nodes, Steps: steps, Slots: slots, TailSlots: slots, Buffer: r.IntN(5), Ranks: 1}
		epochs := shuffled(r, 2+r.IntN(3), steps*shape.Batch())
		p := NewBelady(shape, len(epochs)-1)
		batches, loads := make([][][]uint32, nodes), make([]int, nodes)
		for e, order := range epochs {
			fresh := epochs[1:]
			if e > 0 {
				fresh = nil
			}
			p.Begin(slices.Values(fresh), false)
			for batch := range slices.Chunk(order, shape.Batch()) {
				d := p.Step(batch, len(batch))
				for k, n := range d.Loads {
					loads[k] += n
					samples, _ := d.Node(k)
					batches[k] = append(batches[k], slices.Clone(samples))
				}
			}
		}
		for k, n := range loads {
			if want := fewest(batches[k], shape.Buffer); n != want {
				t.Fatalf("%+v: node %d has %d loads, the least is %d: %v", shape, k, n, want, epochs)
			}
		}
	}
}

func TestHorizon(t *testing.T) {
	million := func(nodes int, share float64) balance.Shape {
		return balance.Shape{Samples: 1_000_000, Nodes: nodes, Steps: 1000, Slots: 1000 / nodes, TailSlots: 1000 / nodes, Ranks: 1,
			Buffer: int(share * 1_000_000 / float64(nodes))}
	}
	for _, c := range []struct {
		shape        balance.Shape
		epochs, want int
	}{
		{million(1, .5), 100, 6},    // full with what the next epoch uses
		{million(8, .5), 100, 10},   // 1/8 + 2*7/64 < .5, with 3*49/512 it is .63: three epochs
		{million(8, .5), 5, 4},      // no more follow
		{million(8, 8), 50, 49},     // each holds all: the farthest use counts
		{million(8, 0), 50, 4},      // no buffer
		{million(8, .5), 1, 1},      // none follows, of which it must be told
		{million(50, .85), 100, 24}, // the square root says 9.2, the sum over 9 epochs is .81, over 10 it is .98
	} {
		if got := Horizon(c.shape, c.epochs); got != c.want {
			t.Errorf("%d nodes, buffer %d, %d epochs: %d ahead, want %d", c.shape.Nodes, c.shape.Buffer, c.epochs, got, c.want)
		}
	}
}
