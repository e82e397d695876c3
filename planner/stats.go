package planner

import (
	"slices"

	"solarfs/balance"
)

// EpochStats are the figures of one epoch over all nodes. Loads + Hits + Remote - Riders is the number of positions.
type EpochStats struct {
	Loads  int // samples read from storage, riders included
	Hits   int
	Remote int // samples read from the memory of another node
	Riders int // loads that are not for the step in which they are read
	Padded int // loads that repeat a sample of the same epoch
	Bound  int // the least number of loads possible, repeats not counted
	Forced int // Loads - Padded - Bound
	// LeftOut counts samples that a node had room for but did not keep, since it has a hit for each of its slots
	// in their next step already; see the package comment.
	LeftOut int
	Kept    int // samples that enter or stay in a buffer when they are used
	Drops   int // samples that leave a buffer without being used

	// MaxBatch and MinBatch are over ranks and full steps; the short last step counts only where it is the only one.
	MaxBatch, MinBatch int

	// StorageReads is, per field, the number of distinct chunks that a node's loads of one step need, summed over steps and nodes.
	StorageReads []int

	// Busiest and Busiest16 sum the loads of the busiest node over the steps, or over runs of 16 steps.
	Busiest, Busiest16 int
}

// run is how many steps Busiest16 takes together.
const run = 16

// counter gathers the stats of an epoch step by step.
type counter struct {
	stats     EpochStats
	inRun     []int // by node: loads since the last run ended
	steps     int
	ranks     int // per node
	full      int // samples of a full step
	positions int
	chunks    []int    // samples per chunk, by field
	ids       []uint32 // scratch: chunks of one node and step
}

func newCounter(s Spec) *counter {
	return &counter{inRun: make([]int, s.Nodes), ranks: s.RanksPerNode, chunks: s.ChunkSamples}
}

func (c *counter) begin() {
	c.stats = EpochStats{StorageReads: make([]int, len(c.chunks))}
	c.steps, c.positions = 0, 0
}

// step counts one step, of whose positions some may be repeats.
func (c *counter) step(d *balance.Dealt, repeats bool) {
	for k, n := range d.Loads {
		c.stats.Loads += n
		c.inRun[k] += n
	}
	c.positions += len(d.Samples)
	c.stats.Drops += len(d.Drops)
	c.stats.Riders += len(d.Riders)
	c.stats.LeftOut += d.LeftOut
	c.stats.Busiest += slices.Max(d.Loads)
	c.batches(d)
	if c.steps++; c.steps%run == 0 {
		c.endRun()
	}
	for _, f := range d.Fates {
		c.stats.Kept += int(f&Keep) / int(Keep)
		c.stats.Remote += int(f&Remote) / int(Remote)
	}
	c.reads(d, repeats)
}

// batches notes the largest and the smallest batch.
func (c *counter) batches(d *balance.Dealt) {
	if c.steps > 0 && len(d.Samples) < c.full {
		return
	}
	c.full = len(d.Samples)
	for k := range d.Loads {
		n := d.Starts[k+1] - d.Starts[k]
		low, high := n/c.ranks, ceilDiv(n, c.ranks)
		if c.stats.MaxBatch == 0 {
			c.stats.MaxBatch, c.stats.MinBatch = high, low
		}
		c.stats.MaxBatch, c.stats.MinBatch = max(c.stats.MaxBatch, high), min(c.stats.MinBatch, low)
	}
}

func (c *counter) endRun() {
	c.stats.Busiest16 += slices.Max(c.inRun)
	clear(c.inRun)
}

func (c *counter) end(padded, bound int) EpochStats {
	c.endRun()
	c.stats.Hits = c.positions + c.stats.Riders - c.stats.Loads - c.stats.Remote
	c.stats.Padded, c.stats.Bound = padded, bound
	c.stats.Forced = c.stats.Loads - padded - bound
	return c.stats
}

// reads counts chunks. Fields with equal chunks are counted once.
func (c *counter) reads(d *balance.Dealt, repeats bool) {
	for f, size := range c.chunks {
		if same := slices.Index(c.chunks[:f], size); same >= 0 {
			c.stats.StorageReads[f] = c.stats.StorageReads[same]
			continue
		}
		riders := d.Riders
		for k, loads := range d.Loads {
			if size == 1 && !repeats {
				c.stats.StorageReads[f] += loads
				continue
			}
			n := 0
			for n < len(riders) && int(riders[n].Node) == k {
				n++
			}
			c.stats.StorageReads[f] += c.distinct(d, k, riders[:n], size)
			riders = riders[n:]
		}
	}
}

// distinct counts the chunks of size samples that node k reads.
func (c *counter) distinct(d *balance.Dealt, k int, riders []balance.Moved, size int) int {
	c.ids = c.ids[:0]
	samples, fates := d.Node(k)
	for i, s := range samples {
		if fates[i]&Load != 0 {
			c.ids = append(c.ids, uint32(int(s)/size))
		}
	}
	for _, r := range riders {
		c.ids = append(c.ids, uint32(int(r.Sample)/size))
	}
	slices.Sort(c.ids)
	n := 0
	for i, id := range c.ids {
		if i == 0 || id != c.ids[i-1] {
			n++
		}
	}
	return n
}
