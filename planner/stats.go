package planner

import (
	"slices"

	"solarfs/balance"
)

// EpochStats are the figures of one epoch over all nodes. Loads + Hits is the number of positions.
type EpochStats struct {
	Loads  int // samples read from storage
	Hits   int
	Padded int // loads that repeat a sample of the same epoch
	Bound  int // the least number of loads possible, repeats not counted
	Forced int // Loads - Padded - Bound: what equal batches cost
	// LeftOut counts samples that a node had room for but did not keep, since it has a hit for each of its slots
	// in their next step already; see the package comment.
	LeftOut int
	Kept    int // samples that enter or stay in a buffer when they are used
	Drops   int // samples that leave a buffer without being used

	// StorageReads is, per field, the number of distinct chunks that a node's loads of one step need, summed over steps and nodes.
	StorageReads []int

	// Busiest and Busiest16 sum the loads of the busiest node over the steps, or over runs of 16 steps.
	Busiest, Busiest16 int
}

// run is how many steps Busiest16 takes together.
const run = 16

// counter gathers the stats of an epoch step by step.
type counter struct {
	stats  EpochStats
	inRun  []int // by node: loads since the last run ended
	steps  int
	chunks []int    // samples per chunk, by field
	ids    []uint32 // scratch: chunks of one node and step
}

func newCounter(s Spec) *counter {
	return &counter{inRun: make([]int, s.Nodes), chunks: s.ChunkSamples}
}

func (c *counter) begin() {
	c.stats = EpochStats{StorageReads: make([]int, len(c.chunks))}
	c.steps = 0
}

// step counts one step, of whose positions some may be repeats.
func (c *counter) step(d *balance.Dealt, repeats bool) {
	for k, n := range d.Loads {
		c.stats.Loads += n
		c.inRun[k] += n
	}
	c.stats.Hits += len(d.Samples)
	c.stats.Drops += len(d.Drops)
	c.stats.LeftOut += d.LeftOut
	c.stats.Busiest += slices.Max(d.Loads)
	if c.steps++; c.steps%run == 0 {
		c.endRun()
	}
	for _, f := range d.Fates {
		c.stats.Kept += int(f&Keep) / int(Keep)
	}
	c.reads(d, repeats)
}

func (c *counter) endRun() {
	c.stats.Busiest16 += slices.Max(c.inRun)
	clear(c.inRun)
}

func (c *counter) end(padded, bound int) EpochStats {
	c.endRun()
	c.stats.Hits -= c.stats.Loads
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
		slots := len(d.Samples) / len(d.Loads)
		for k, loads := range d.Loads {
			if size == 1 && !repeats {
				c.stats.StorageReads[f] += loads
				continue
			}
			c.stats.StorageReads[f] += c.distinct(d.Samples[k*slots:][:slots], d.Fates[k*slots:][:slots], size)
		}
	}
}

func (c *counter) distinct(samples []uint32, fates []Fate, size int) int {
	c.ids = c.ids[:0]
	for i, s := range samples {
		if fates[i]&Load != 0 {
			c.ids = append(c.ids, uint32(int(s)/size))
		}
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
