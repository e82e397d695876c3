package peers

import (
	"iter"
	"math"

	"solarfs/balance"
)

// Belady keeps on each node what the node itself uses soonest again under torch's order: Belady's MIN (IBM Systems Journal 5, 1966) with
// bypass, the least loads that any rule of eviction gives without remap and without reading other nodes' memory. It knows the epochs
// that Horizon says, and takes what this node does not use in them for never used again. The samples of a step count as used at once.
//
// Memory: 4 bytes per sample and epoch foreseen, 1 per sample, 8 per sample held, 4 per node, step and epoch foreseen.
type Belady struct {
	torch
	epochs
	future  future
	buffers minimum
	step    int
	due     []bool // by sample: held for this step by the node being dealt; scratch
}

// NewBelady returns empty buffers that look depth epochs ahead, 1 at least.
func NewBelady(shape balance.Shape, depth int) *Belady {
	return &Belady{
		torch: newTorch(shape), future: newFuture(shape.Samples, depth), buffers: minimum{pending: newPending(shape, depth+1)},
		due: make([]bool, shape.Samples),
	}
}

// Horizon is how many epochs ahead Belady looks in a plan of so many. A node uses a given sample in an epoch with probability p of about
// 1/nodes, so of its uses the share p(1-p)^(t-1) comes back after t epochs. The buffer is full with those of up to T epochs, where the sum
// over t of that share x t x uses per epoch reaches its size: about sqrt(2 x nodes x share of the set in all buffers). While the buffers fill,
// what comes back later is of use too, if it is needed within T epochs once they are full: 2T+4 covers it.
func Horizon(shape balance.Shape, epochs int) int {
	used := min(shape.Samples, ((shape.Steps-1)*shape.Slots+shape.TailSlots)*shape.Nodes)
	uses := float64(used) / float64(shape.Nodes)
	p := uses / float64(shape.Samples)
	held, full := 0.0, 0
	for held < float64(shape.Buffer) && full < epochs {
		full++
		held += uses * p * float64(full) * math.Pow(1-p, float64(full-1))
	}
	return max(1, min(2*full+4, epochs-1))
}

// Begin starts an epoch.
func (b *Belady) Begin(fresh iter.Seq[[]uint32], _ bool) {
	b.begin(fresh, b.future.tell)
	b.step = 0
}

// Step deals the next global batch.
func (b *Belady) Step(batch []uint32, regular int) *balance.Dealt {
	b.deal(batch, regular)
	for k := range b.shape.Nodes {
		b.use(k)
		samples, _ := b.node(k)
		for i, sample := range samples {
			if time, ok := b.next(k, sample); ok {
				b.buffers.offer(i, time)
			}
		}
		b.buffers.keep(k, &b.dealt)
	}
	b.step++
	return &b.dealt
}

// use tells hits from loads. All that node k holds for this step is in its batch, and leaves.
func (b *Belady) use(k int) {
	now := b.now()*b.shape.Steps + b.step
	for sample, ok := b.buffers.take(k, now); ok; sample, ok = b.buffers.take(k, now) {
		b.due[sample] = true
	}
	samples, fates := b.node(k)
	for i, sample := range samples {
		if b.due[sample] {
			b.due[sample] = false
			fates[i] = 0
			b.dealt.Loads[k]--
		}
	}
}

// next is when node k uses a sample again, as far as is known.
func (b *Belady) next(k int, sample uint32) (time int, ok bool) {
	for epoch := b.now() + 1; epoch <= b.told; epoch++ {
		if p := b.future.position(sample, epoch); p != never && b.nodeOf(int(p)) == k {
			return epoch*b.shape.Steps + int(p)/b.shape.Batch(), true
		}
	}
	return 0, false
}
