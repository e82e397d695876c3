package storage

import (
	"math"
	"math/rand/v2"
	"testing"
)

// example is 50000 samples of 64 KiB in batches of 64 per node, for long.
func example(nodes int) Job {
	return Job{Samples: 50000, Nodes: nodes, StepSamples: 64, Epochs: 1000, Fields: []Field{{1, 64 << 10}}}
}

var slow = Model{IOPS: 500, Bandwidth: 200e6, Latency: 2e-3, Depth: 16}

// seen is what plan and sweeps, executed sample by sample, read in an epoch, with sweeps as long as the prediction's: by the node in the middle, over gaps
// as wide as the prediction's, and by the slowest node, over gaps that suit it best.
func seen(j Job, p Prediction, kept, window float64) (middle Demand, slowest float64) {
	sweep := j.sweep(p.Loads, window)
	o := oracle{j.Samples, j.Nodes, j.StepSamples, 4 + int(4*sweep/p.Loads), kept}
	gap := int(p.Gap) / int(j.Fields[0].ChunkBytes)
	for k, loads := range o.loads(rand.New(rand.NewPCG(3, 4))) {
		visits := elevator(loads, sweep)
		best := math.Inf(1)
		try := func(g int) Demand {
			d, n := count(visits, j.Fields[0], g)
			d.Requests, d.Bytes = d.Requests*p.Loads/float64(n), d.Bytes*p.Loads/float64(n)
			best = min(best, slow.Seconds(d))
			return d
		}
		for g := gap * 2 / 3; g <= gap*3/2+1; g += 1 + gap/20 {
			try(g)
		}
		if d := try(gap); k == j.Nodes/2 {
			middle = d
		}
		slowest = max(slowest, best)
	}
	return middle, slowest
}

func TestPredictionAgainstOracle(t *testing.T) {
	for _, c := range []struct {
		nodes, chunk int
		memory, kept float64
	}{
		{1, 1, .2, 0}, {1, 1, .2, .1}, {1, 1, .5, 0}, {1, 1, .5, .2}, {1, 1, .85, .75}, {1, 1, .85, .825},
		{4, 1, .2, 0}, {4, 1, .5, .1}, {4, 1, .85, .75}, {4, 1, .85, .825},
		{1, 16, .25, 0}, {1, 4, .5, .25}, {4, 16, .25, .1},
		{16, 1, .2, 0}, {16, 1, .5, .1}, {16, 1, .5, .3}, {16, 1, .85, .75}, {16, 1, .85, .825},
	} {
		j := example(c.nodes)
		j.Fields[0] = Field{c.chunk, int64(c.chunk) << 16}
		window := (c.memory - c.kept) * 50000 / float64(c.nodes)
		p := Predict(slow, j, c.kept, window)
		middle, slowest := seen(j, p, c.kept, window)
		off := func(predicted, seen float64) float64 { return 100 * (predicted/seen - 1) }
		t.Logf("%2d nodes, chunks of %2d, memory %.3f, kept %.3f: %5.2f s predicted, %5.2f seen (%+.1f %%); requests %5.0f (%+.1f %%), bytes %+.1f %%", c.nodes, c.chunk, c.memory, c.kept, p.Seconds, slowest,
			off(p.Seconds, slowest), p.Requests, off(p.Requests, middle.Requests), off(p.Bytes, middle.Bytes))
		if e := math.Abs(off(p.Seconds, slowest)); e > 4 {
			t.Errorf("off by %.1f %%", e)
		}
	}
}
