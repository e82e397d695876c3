package report

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"
)

// someRow is a row as a simulation would give it, with noise from the name's length, so that the same arguments give the same row.
func someRow(name string, nodes, epochs int, share float64) Row {
	const steps, batch, points = 1000, 64, 200
	random := rand.New(rand.NewPCG(uint64(len(name)), uint64(nodes)))
	samples := nodes * steps * batch
	r := Row{
		Name: name, Samples: samples, Nodes: nodes, Ranks: nodes, BatchSize: batch, StepsPerEpoch: steps, BufferShare: share,
		HitRate: share * float64(epochs-1) / float64(epochs), MaxBatch: batch + 2, MinBatch: batch - 1,
		BusiestOverMeanStep: 1.0164837, BusiestOverMean16Steps: 1.0049, SeriesEpoch: max(0, epochs-2),
		Batches: map[int]int{batch - 1: 12, batch: nodes*steps - 37, batch + 2: 25},
	}
	for epoch := range epochs {
		bound := samples
		if epoch > 0 {
			bound -= int(share * float64(samples))
		}
		loads := bound + random.IntN(samples/100)
		r.BoundByEpoch, r.LoadsByEpoch = append(r.BoundByEpoch, bound), append(r.LoadsByEpoch, loads)
		r.StorageReadsByEpoch = append(r.StorageReadsByEpoch, loads/4)
		r.SecondsByEpoch = append(r.SecondsByEpoch, float64(loads)/20011)
		r.Loads, r.LoadsBound = r.Loads+loads, r.LoadsBound+bound
	}
	for range nodes {
		r.LoadsPerNode = append(r.LoadsPerNode, nil)
	}
	for point := range points {
		r.Steps = append(r.Steps, point*steps/points)
		sum := 0.0
		for node := range nodes {
			v := batch * (1 - share) * (1 + 0.1*random.NormFloat64() + 0.05*math.Sin(float64(point+node)/20))
			r.LoadsPerNode[node] = append(r.LoadsPerNode[node], v)
			sum += v
		}
		r.HitShare = append(r.HitShare, max(0, 1-sum/float64(nodes*batch)))
	}
	return r
}

// strategyNames are those that a simulation knows.
var strategyNames = []string{"balanced", "solar", "pinned", "belady", "lru", "locality", "nopfs", "block", "none"}

func somePage(nodes, epochs, strategies int) Page {
	p := Page{
		Title: "solarfs simulate", Subtitle: "1,000,000 samples, 16 nodes x 1 rank x 64", Made: "solarfs test, 2026-01-02 03:04 UTC",
		Command: "solarfs simulate --samples 1000000 --nodes 16 --batch-size 64 --epochs 5 --buffer-share 0.5 --report out.html",
	}
	for i, name := range strategyNames[:strategies] {
		p.Rows = append(p.Rows, someRow(name, nodes, epochs, 0.9-0.1*float64(i)))
	}
	return p
}

func written(t *testing.T, p Page) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, p); err != nil {
		t.Fatal(err)
	}
	return out.String()
}
