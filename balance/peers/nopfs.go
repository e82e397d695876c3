package peers

import (
	"iter"
	"slices"

	"solarfs/balance"
)

// NoPFS is clairvoyant prefetching (Dryden et al., SC 2021, arXiv 2101.08734): the order of all epochs is known, so each node
// keeps the samples that it uses most often in all of them, those first used first among equals, and keeps them from their first use on. What
// a node does not hold it reads from a node that does (Remote), else from storage. One class of memory stands for the paper's
// tiers; its model of which source is fastest at the time, and its staging buffer, are left out: a peer is always preferred to
// storage.
//
// Memory: 2 1/8 bytes per sample and epoch, 8 per node and epoch.
type NoPFS struct {
	torch
	epochs
	count int
	nodes []uint16 // by sample, then epoch: who uses it, nobody where the epoch does not
	kept  []uint64 // a bit for each of nodes: that use put it into the buffer of that node
	keeps []limit  // by node
}

// limit says what a node keeps: what it uses more often than least, and of what it uses as often the first so many.
type limit struct{ least, ties int }

// NewNoPFS returns empty buffers for a plan of count epochs; first is the order of the first one without repeats. Begin must be told all
// others the first time.
func NewNoPFS(shape balance.Shape, count int, first []uint32) *NoPFS {
	n := &NoPFS{
		torch: newTorch(shape), count: count, nodes: make([]uint16, shape.Samples*count), kept: make([]uint64, (shape.Samples*count+63)/64),
	}
	for i := range n.nodes {
		n.nodes[i] = nobody
	}
	n.tell(0, first)
	return n
}

// Begin starts an epoch.
func (n *NoPFS) Begin(fresh iter.Seq[[]uint32], _ bool) {
	n.begin(fresh, n.tell)
	if n.now() == 0 {
		n.keeps = n.limits()
	}
}

func (n *NoPFS) tell(epoch int, order []uint32) {
	for position, sample := range order {
		n.nodes[int(sample)*n.count+epoch] = uint16(n.nodeOf(position))
	}
}

// limits finds for each node what it keeps.
func (n *NoPFS) limits() []limit {
	often := n.frequencies()
	limits := make([]limit, n.shape.Nodes)
	for k := range limits {
		room := n.shape.Buffer
		least := n.count
		for ; least > 0 && often[k*(n.count+1)+least] <= room; least-- {
			room -= often[k*(n.count+1)+least]
		}
		limits[k] = limit{least, room}
	}
	return limits
}

// frequencies counts, by node and number of uses, the samples that the node uses so many times.
func (n *NoPFS) frequencies() []int {
	often := make([]int, n.shape.Nodes*(n.count+1))
	sorted := make([]uint16, n.count)
	for nodes := range slices.Chunk(n.nodes, n.count) {
		copy(sorted, nodes)
		nodes = sorted
		slices.Sort(nodes)
		for len(nodes) > 0 && nodes[0] != nobody {
			uses := 1
			for uses < len(nodes) && nodes[uses] == nodes[0] {
				uses++
			}
			often[int(nodes[0])*(n.count+1)+uses]++
			nodes = nodes[uses:]
		}
	}
	return often
}

// Step deals the next global batch.
func (n *NoPFS) Step(batch []uint32, regular int) *balance.Dealt {
	n.deal(batch, regular)
	for k := range n.keeps {
		samples, fates := n.node(k)
		for i, sample := range samples {
			fates[i] = n.use(k, sample)
			if fates[i]&balance.Load == 0 {
				n.dealt.Loads[k]--
			}
		}
	}
	return &n.dealt
}

// use is what happens to a sample that node k uses now.
func (n *NoPFS) use(k int, sample uint32) balance.Fate {
	held, elsewhere, before := n.held(k, sample)
	fate := balance.Load
	switch {
	case held:
		fate = 0
	case elsewhere:
		fate = balance.Remote
	}
	if !n.last() && (held || !before && n.enters(k, sample)) {
		fate |= balance.Keep
	}
	return fate
}

// held tells whether node k holds a sample, whether another does, and whether k has used it before.
func (n *NoPFS) held(k int, sample uint32) (held, elsewhere, before bool) {
	from := int(sample) * n.count
	for i := from; i < from+n.now(); i++ {
		kept := n.kept[i/64]&(1<<(i%64)) != 0
		mine := int(n.nodes[i]) == k
		held = held || kept && mine
		elsewhere = elsewhere || kept && !mine
		before = before || mine
	}
	return held, elsewhere, before
}

// enters decides at the first use of a sample by node k.
func (n *NoPFS) enters(k int, sample uint32) bool {
	uses, from := 0, int(sample)*n.count
	for _, node := range n.nodes[from:][:n.count] {
		if int(node) == k {
			uses++
		}
	}
	limit := &n.keeps[k]
	if uses < limit.least || uses == limit.least && limit.ties == 0 {
		return false
	}
	if uses == limit.least {
		limit.ties--
	}
	i := from + n.now()
	n.kept[i/64] |= 1 << (i % 64)
	return true
}
