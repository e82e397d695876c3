package peers

import (
	"iter"

	"solarfs/balance"
)

// None is PyTorch's DataLoader on a DistributedSampler (Paszke et al., NeurIPS 2019; torch/utils/data): every sample is read from
// storage by the rank that torch gives it to, and nothing is kept. The page cache, which may hold some of it, is left out.
type None struct{ torch }

// NewNone returns the policy for a shape.
func NewNone(shape balance.Shape) *None { return &None{newTorch(shape)} }

// Begin starts an epoch.
func (n *None) Begin(iter.Seq[[]uint32], bool) {}

// Step deals the next global batch.
func (n *None) Step(batch []uint32, regular int) *balance.Dealt {
	n.deal(batch, regular)
	return &n.dealt
}
