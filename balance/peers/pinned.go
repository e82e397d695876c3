package peers

import (
	"iter"

	"solarfs/balance"
)

// Pinned is MinIO, the cache of CoorDL (Mohan et al., VLDB 2021, arXiv 2007.06775, section 4.1): a node keeps the first samples that it
// loads and never evicts one, so that no sample is evicted before it is used again. CoorDL's partitioned cache, in which servers read
// each other's memory, is left out, and so are its shared preprocessing and its bytes: a buffer counts samples.
//
// Memory: 10 to 20 bytes per sample held.
type Pinned struct {
	torch
	epochs
	held []map[uint32]struct{} // by node
}

// NewPinned returns empty buffers.
func NewPinned(shape balance.Shape) *Pinned {
	p := &Pinned{torch: newTorch(shape), held: make([]map[uint32]struct{}, shape.Nodes)}
	for k := range p.held {
		p.held[k] = map[uint32]struct{}{}
	}
	return p
}

// Begin starts an epoch.
func (p *Pinned) Begin(fresh iter.Seq[[]uint32], _ bool) { p.begin(fresh, nil) }

// Step deals the next global batch.
func (p *Pinned) Step(batch []uint32, regular int) *balance.Dealt {
	p.deal(batch, regular)
	for k, held := range p.held {
		samples, fates := p.node(k)
		for i, sample := range samples {
			_, hit := held[sample]
			if hit {
				fates[i] = 0
				p.dealt.Loads[k]--
			}
			if p.last() || !hit && len(held) >= p.shape.Buffer {
				continue
			}
			held[sample] = struct{}{}
			fates[i] |= balance.Keep
		}
	}
	return &p.dealt
}
