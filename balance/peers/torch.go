package peers

import "solarfs/balance"

// torch deals a global batch as torch's DistributedSampler does: position i belongs to rank i mod ranks.
type torch struct {
	shape   balance.Shape
	dealt   balance.Dealt
	regular []int // by node: samples that are not repeats; they stand first
}

func newTorch(shape balance.Shape) torch {
	shape.Check()
	return torch{shape: shape, dealt: balance.NewDealt(shape), regular: make([]int, shape.Nodes)}
}

// deal places the batch, every sample as a load that is not kept.
func (t *torch) deal(batch []uint32, regular int) {
	d, nodes, ranks := &t.dealt, t.shape.Nodes, t.shape.Ranks
	d.Samples, d.Fates, d.Drops = d.Samples[:len(batch)], d.Fates[:len(batch)], d.Drops[:0]
	slots := len(batch) / nodes
	for k := range nodes {
		d.Starts[k], d.Loads[k] = k*slots, slots
		for row := range slots / ranks {
			copy(d.Samples[k*slots+row*ranks:][:ranks], batch[(row*nodes+k)*ranks:])
		}
		rest := regular%(nodes*ranks) - k*ranks
		t.regular[k] = regular/(nodes*ranks)*ranks + max(0, min(rest, ranks))
	}
	d.Starts[nodes] = len(batch)
	for i := range d.Fates {
		d.Fates[i] = balance.Load
	}
}

// node returns what node k processes, repeats left out.
func (t *torch) node(k int) ([]uint32, []balance.Fate) {
	samples, fates := t.dealt.Node(k)
	return samples[:t.regular[k]], fates[:t.regular[k]]
}

// nodeOf is the node that a position of an epoch belongs to.
func (t *torch) nodeOf(position int) int {
	return position % (t.shape.Nodes * t.shape.Ranks) / t.shape.Ranks
}
