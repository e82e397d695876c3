package planner

import "math/rand/v2"

// randomSpec draws small specs from the corners: one sample, fewer samples than ranks or than a global batch, no buffer,
// a buffer larger than the set, several ranks per node, repeats in one step.
func randomSpec(r *rand.Rand) Spec {
	pick := func(of ...int) int { return of[r.IntN(len(of))] }
	s := Spec{
		Samples:      pick(1, 2, 3, 1+r.IntN(8), 1+r.IntN(60), 1+r.IntN(400), 1+r.IntN(1500)),
		Nodes:        pick(1, 2, 3, 4, 1+r.IntN(9)),
		RanksPerNode: pick(1, 1, 2, 3, 1+r.IntN(5)),
		BatchSize:    pick(1, 2, 3, 1+r.IntN(16), 1+r.IntN(64)),
		Epochs:       1 + r.IntN(5),
		Seed:         r.Int64() - r.Int64(),
		Order:        OrderTorch,
		DropLast:     r.IntN(3) == 0,
		ChunkSamples: []int{1, 1 + r.IntN(9)},
	}
	if r.IntN(6) == 0 {
		s.Order = OrderSequential
	}
	share := ceilDiv(s.Samples, s.Nodes)
	s.BufferSamples = pick(0, 1, r.IntN(share+1), r.IntN(share+1), share/2, s.Samples/s.Nodes, share, s.Samples, 2*s.Samples+1)
	return s
}

// droppySpec draws specs whose DropLast leaves samples unused, so that buffers drop some.
func droppySpec(r *rand.Rand) Spec {
	s := Spec{Samples: 2 + r.IntN(40), Nodes: 1 + r.IntN(5), RanksPerNode: 1 + r.IntN(2), BatchSize: 1 + r.IntN(5), Epochs: 6, Seed: r.Int64(),
		Order: OrderTorch, DropLast: true}
	s.BufferSamples = r.IntN(s.Samples + 1)
	return fillable(s)
}

// fillable turns a spec whose DropLast leaves no step into one that has some.
func fillable(s Spec) Spec {
	if s.Steps() == 0 {
		s.DropLast = false
	}
	return s
}
