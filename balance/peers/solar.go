package peers

import (
	"cmp"
	"iter"
	"slices"
	"sort"

	"solarfs/balance"
)

// Solar is the paper's method (Sun et al., SOLAR, arXiv 2211.00224), but for the order of the epochs, which is the plan's, and the merging of
// reads, which is the storage's. Each sample of a global batch goes to the node that holds it. The loads of a step are dealt evenly
// over the nodes, so that batches are uneven; hits beyond what the largest batch allows leave their node and are loaded elsewhere.
// A full buffer lets the sample go whose next use is farthest. A sample is used once per epoch, so what this epoch still
// needs is needed sooner than what it has used, and of that the step in the next epoch decides.
//
// Simplified: the paper deals all misses evenly however uneven the batches become, here the Imbalance bounds them; and what the next epoch
// does not use (drop-last) is not kept. The released code evicts first in, first out and remaps only the first steps of an
// epoch; here the abstract is followed.
//
// Memory: 6 bytes per sample, 8 per sample held, 8 per node and step.
type Solar struct {
	remap
	epochs
	future  future
	buffers minimum
	step    int
	holder  []uint16 // by sample: who holds it for this step, else nobody
}

// NewSolar returns empty buffers.
func NewSolar(shape balance.Shape) *Solar {
	return &Solar{
		remap: newRemap(shape), future: newFuture(shape.Samples, 1), buffers: minimum{pending: newPending(shape, 2)},
		holder: newHolders(shape),
	}
}

// Begin starts an epoch.
func (s *Solar) Begin(fresh iter.Seq[[]uint32], _ bool) {
	s.begin(fresh, s.future.tell)
	s.step = 0
}

// Step deals the next global batch.
func (s *Solar) Step(batch []uint32, regular int) *balance.Dealt {
	s.take()
	s.claim(batch, regular, s.holder, 0)
	for _, sample := range batch {
		s.holder[sample] = nobody
	}
	slots := len(batch) / s.shape.Nodes
	s.limit(slots)
	s.giveAway(batch, balance.Load)
	s.share(slots)
	s.handLoads(len(batch))
	d := s.place(batch, regular)
	for k := range s.size {
		s.keep(k)
	}
	slices.SortStableFunc(d.Drops, func(a, b balance.Moved) int { return cmp.Compare(a.Node, b.Node) })
	s.step++
	return d
}

// take lets all leave that is held for this step, and notes who held it.
func (s *Solar) take() {
	now := s.now()*s.shape.Steps + s.step
	for k := range s.size {
		for sample, ok := s.buffers.take(k, now); ok; sample, ok = s.buffers.take(k, now) {
			s.holder[sample] = uint16(k)
		}
	}
}

// limit decides how many of its hits each node processes, into size: as many as its largest batch allows, or fewer, so that enough is left
// for everyone's least.
func (s *Solar) limit(slots int) {
	low, most, total := s.shape.Least(slots), s.shape.Most(slots), slots*s.shape.Nodes
	sum := func(top int) (sum int) {
		for k, hits := range s.hits {
			s.size[k] = min(hits, top)
			sum += max(s.size[k], low)
		}
		return sum
	}
	top := slots + sort.Search(most-slots, func(n int) bool { return sum(slots+n+1) > total })
	rest := total - sum(top)
	for k, hits := range s.hits {
		if top < most && hits > top && rest > 0 {
			s.size[k]++
			rest--
		}
	}
}

// share deals the loads.
func (s *Solar) share(slots int) {
	low, most := s.shape.Least(slots), s.shape.Most(slots)
	loads := slots * s.shape.Nodes
	for k, hits := range s.hits {
		s.low[k], s.high[k] = max(0, low-hits), most-hits
		loads -= hits
	}
	s.spread(loads)
	for k, hits := range s.hits {
		s.size[k] = hits + s.dealt.Loads[k]
	}
}

func (s *Solar) keep(k int) {
	if s.last() {
		return
	}
	samples, _ := s.dealt.Node(k)
	next := s.now() + 1
	for i, sample := range samples[:s.regular[k]] {
		if p := s.future.position(sample, next); p != never {
			s.buffers.offer(i, next*s.shape.Steps+int(p)/s.shape.Batch())
		}
	}
	s.buffers.keep(k, &s.dealt)
}
