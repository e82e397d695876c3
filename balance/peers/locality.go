package peers

import (
	"iter"

	"solarfs/balance"
)

// Locality is locality-aware loading (Yang and Cong, HiPC 2019, arXiv 1910.01196): the caches are filled in the first epoch, as torch deals
// it, and then stay as they are, one copy of a sample in the whole cluster. Later each global batch goes to the nodes that hold its samples.
// A node that holds more of it than its share passes the surplus over the network to nodes with fewer (Remote; the holder keeps it),
// and what no node holds is loaded, evenly. The paper's share is equal; with an Imbalance the node may keep up to Most. The paper's
// storage of compressed files and its threads are left out, and so is the search for the transfers that cross the fewest links.
//
// Memory: 2 bytes per sample.
type Locality struct {
	remap
	epochs
	fill   torch    // deals the first epoch
	holder []uint16 // by sample, or nobody
	held   []int    // by node
}

// NewLocality returns empty buffers.
func NewLocality(shape balance.Shape) *Locality {
	return &Locality{remap: newRemap(shape), fill: newTorch(shape), holder: newHolders(shape), held: make([]int, shape.Nodes)}
}

// Begin starts an epoch.
func (l *Locality) Begin(fresh iter.Seq[[]uint32], _ bool) { l.begin(fresh, nil) }

// Step deals the next global batch.
func (l *Locality) Step(batch []uint32, regular int) *balance.Dealt {
	if l.now() == 0 {
		return l.load(batch, regular)
	}
	hit := balance.Keep
	if l.last() {
		hit = 0
	}
	held := l.claim(batch, regular, l.holder, hit)
	l.shape.Share(l.hits, len(batch)/l.shape.Nodes, l.size)
	l.giveAway(batch, balance.Remote)
	for k, size := range l.size {
		l.low[k], l.high[k] = 0, size-l.hits[k]
	}
	l.spread(len(batch) - held)
	l.handLoads(len(batch))
	for k, n := range l.dealt.Loads {
		l.high[k] -= n
	}
	l.hand(len(batch), balance.Remote, l.high)
	return l.place(batch, regular)
}

// load deals a step of the first epoch.
func (l *Locality) load(batch []uint32, regular int) *balance.Dealt {
	l.fill.deal(batch, regular)
	for k := range l.held {
		samples, fates := l.fill.node(k)
		for i, sample := range samples {
			if l.last() || l.held[k] == l.shape.Buffer {
				break
			}
			l.holder[sample] = uint16(k)
			l.held[k]++
			fates[i] |= balance.Keep
		}
	}
	return &l.fill.dealt
}
