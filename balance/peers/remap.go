package peers

import (
	"math"
	"slices"
	"sort"

	"solarfs/balance"
)

const nobody = math.MaxUint16

// remap deals a global batch to the nodes that hold its samples. It is filled in by position, then placed by node.
type remap struct {
	shape balance.Shape
	dealt balance.Dealt

	who     []uint16 // by position: the node that processes it
	fates   []balance.Fate
	hits    []int // by node: samples that it holds and processes
	size    []int // by node: samples that it processes
	regular []int // by node: samples that are not repeats; they stand first
	at      []int // by node: where its next sample is written
	low     []int // by node: the least and the most loads it may have
	high    []int
	first   int // the node that gets one more first where shares do not come out even
}

func newHolders(shape balance.Shape) []uint16 {
	holders := make([]uint16, shape.Samples)
	for i := range holders {
		holders[i] = nobody
	}
	return holders
}

func newRemap(shape balance.Shape) remap {
	shape.Check()
	counts := func() []int { return make([]int, shape.Nodes) }
	return remap{
		shape: shape, dealt: balance.NewDealt(shape),
		who: make([]uint16, shape.Batch()), fates: make([]balance.Fate, shape.Batch()),
		hits: counts(), size: counts(), regular: counts(), at: counts(), low: counts(), high: counts(),
	}
}

// claim gives each sample to the node that holds it, as a hit of that fate. Afterwards who is nobody at what no node holds, and at repeats.
// Held is how many some node holds.
func (r *remap) claim(batch []uint32, regular int, holder []uint16, hit balance.Fate) (held int) {
	r.dealt.Drops = r.dealt.Drops[:0]
	clear(r.hits)
	for i, sample := range batch {
		r.who[i], r.fates[i] = nobody, balance.Load
		if k := holder[sample]; i < regular && k != nobody {
			r.who[i], r.fates[i] = k, hit
			r.hits[k]++
			held++
		}
	}
	return held
}

// giveAway takes the last of its hits from each node that has more than size says, and gives them that fate.
func (r *remap) giveAway(batch []uint32, fate balance.Fate) {
	for i := len(batch) - 1; i >= 0; i-- {
		k := r.who[i]
		if k == nobody || r.hits[k] <= r.size[k] {
			continue
		}
		r.who[i], r.fates[i] = nobody, fate
		r.hits[k]--
		if fate == balance.Load {
			r.dealt.Drops = append(r.dealt.Drops, balance.Moved{Node: k, Sample: batch[i]})
		}
	}
}

// spread deals n loads over the nodes as evenly as low and high allow, into Loads. The sum of low is at most n, that of high at least.
func (r *remap) spread(n int) {
	loads := r.dealt.Loads
	sum := func(level int) (sum int) {
		for k := range loads {
			loads[k] = min(max(level, r.low[k]), r.high[k])
			sum += loads[k]
		}
		return sum
	}
	level := sort.Search(slices.Max(r.high), func(level int) bool { return sum(level+1) > n })
	missing := n - sum(level)
	for i := range loads {
		k := (r.first + i) % len(loads)
		if missing > 0 && loads[k] == level && level < r.high[k] {
			loads[k]++
			missing--
		}
	}
	r.first = (r.first + 1) % len(loads)
}

// handLoads gives the loads to the nodes that Loads says.
func (r *remap) handLoads(positions int) {
	copy(r.at, r.dealt.Loads)
	r.hand(positions, balance.Load, r.at)
}

// hand gives the positions of that fate that nobody has to the nodes in turn, as long as left says that they take some.
func (r *remap) hand(positions int, fate balance.Fate, left []int) {
	k := 0
	for i := range positions {
		if r.who[i] != nobody || r.fates[i] != fate {
			continue
		}
		for left[k] == 0 {
			k = (k + 1) % len(left)
		}
		r.who[i] = uint16(k)
		left[k]--
		k = (k + 1) % len(left)
	}
}

// place writes samples and fates by node, each node's in the order of the global batch.
func (r *remap) place(batch []uint32, regular int) *balance.Dealt {
	d, from := &r.dealt, 0
	for k, n := range r.size {
		d.Starts[k], r.at[k], r.regular[k] = from, from, 0
		from += n
	}
	d.Starts[r.shape.Nodes] = from
	d.Samples, d.Fates = d.Samples[:from], d.Fates[:from]
	for i, sample := range batch {
		k := r.who[i]
		d.Samples[r.at[k]], d.Fates[r.at[k]] = sample, r.fates[i]
		r.at[k]++
		if i < regular {
			r.regular[k]++
		}
	}
	return d
}
