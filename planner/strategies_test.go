package planner

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestCertificateOfAll executes 2,000 plans of torch's order with every strategy, in its epochs as they come and in another order, and
// 1,000 of order block.
func TestCertificateOfAll(t *testing.T) {
	for _, name := range Strategies() {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(2211, 224))
			hits, remote := 0, 0
			for range 1000 {
				for _, spec := range []Spec{fillable(randomSpec(r)), droppySpec(r), blockSpec(r)} {
					spec.Strategy, spec.MaxImbalance = name, []float64{0, .05, .1, .3, .5}[r.IntN(5)]
					if r.IntN(3) == 0 {
						spec.Visit = r.Perm(spec.Epochs)
					}
					if err := Verify(spec); err != nil {
						t.Fatalf("%+v: %v", spec, err)
					}
					report := mustReport(t, spec)
					hits += report.Epochs*spec.Positions() - report.Loads - report.Remote
					remote += report.Remote
				}
			}
			if (hits > 0) == (name == NoCache) || (remote > 0) == Mountable(name) {
				t.Errorf("%d hits, %d reads from peers", hits, remote)
			}
		})
	}
}

func TestMountable(t *testing.T) {
	for name, want := range map[string]bool{"": true, Balanced: true, Solar: true, NoPFS: false, Locality: false, "no such": false} {
		if Mountable(name) != want {
			t.Errorf("%q: mountable %v", name, !want)
		}
	}
}

// goldenSpecs are of the corners: several ranks per node, repeats, a short last step, dropped samples, uneven batches.
var goldenSpecs = []Spec{
	{Samples: 3001, Nodes: 4, RanksPerNode: 2, BatchSize: 16, Epochs: 6, Seed: 7, Order: OrderTorch, BufferSamples: 400, MaxImbalance: .3},
	{Samples: 2000, Nodes: 5, RanksPerNode: 1, BatchSize: 3, Epochs: 4, Seed: 1, Order: OrderTorch, BufferSamples: 350},
	{Samples: 1000, Nodes: 3, RanksPerNode: 1, BatchSize: 30, Epochs: 5, Seed: 2, Order: OrderTorch, DropLast: true, BufferSamples: 200, MaxImbalance: .1},
}

// TestStrategyDigests pins the plans of all strategies, on any number of processors.
func TestStrategyDigests(t *testing.T) {
	file := filepath.Join("testdata", "strategies.golden")
	digests := func(procs int) string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
		var b strings.Builder
		for _, name := range Strategies() {
			for i, spec := range goldenSpecs {
				spec.Strategy = name
				r := mustReport(t, spec)
				fmt.Fprintf(&b, "%s %d loads %d remote %d digest %s\n", name, i, r.Loads, r.Remote, r.Digest)
			}
		}
		return b.String()
	}
	got := digests(1)
	if again := digests(4); again != got {
		t.Errorf("another run with GOMAXPROCS 4 differs:\n%s\nwith 1:\n%s", again, got)
	}
	if *rewrite {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("differs from %s; if that is meant, run with -rewrite. Got:\n%s", file, got)
	}
}

// hitRate is the share of the uses after the first epoch that are hits, over 20 epochs of 8,000 samples in global batches of 64.
func hitRate(t *testing.T, strategy string, nodes int, share float64) float64 {
	const samples, epochs = 8000, 20
	r := mustReport(t, Spec{Samples: samples, Nodes: nodes, RanksPerNode: 1, BatchSize: 64 / nodes, Epochs: epochs, Order: OrderTorch,
		BufferSamples: int(share * samples / float64(nodes)), Strategy: strategy})
	later := r.Loads + r.Remote - r.LoadsByEpoch[0]
	return 1 - float64(later)/float64((epochs-1)*samples)
}

// TestHitRates holds what theory says: on n nodes without remap a pinned sample returns to its node once in n epochs, and a buffer of
// the share c full of the soonest uses holds those that return within T epochs, the sum of t(1-1/n)^(t-1) over T being about cn. The figures
// of lru and belady are from an independent simulation of single caches.
func TestHitRates(t *testing.T) {
	for _, c := range []struct {
		strategy string
		nodes    int
		share    float64
		want     float64
	}{
		{LRU, 1, .25, .04}, {LRU, 1, .5, .15}, {LRU, 1, .75, .40},
		{Pinned, 1, .25, .25}, {Pinned, 1, .5, .5}, {Pinned, 1, .75, .75},
		{Belady, 1, .25, .25}, {Belady, 1, .5, .5}, {Belady, 1, .75, .75},
		{Pinned, 4, .5, .5 / 4}, {Belady, 4, .5, .374},
		{Pinned, 16, .5, .5 / 16}, {Belady, 16, .5, .200},
		{Locality, 1, .5, .5}, {NoPFS, 1, .5, .5}, {NoCache, 4, .5, 0},
	} {
		if got := hitRate(t, c.strategy, c.nodes, c.share); math.Abs(got-c.want) > .01 {
			t.Errorf("%s on %d nodes, share %v: %.3f hits, want %.3f", c.strategy, c.nodes, c.share, got, c.want)
		}
	}
}

// TestSolarMeetsTheBound: where batches may be uneven enough the paper's method loads no more than the bound, evenly; where they may
// not, it loads more, and never makes a batch beyond the cap.
func TestSolarMeetsTheBound(t *testing.T) {
	for _, share := range []float64{.25, .5, .75} {
		spec := Spec{Samples: 40_000, Nodes: 8, RanksPerNode: 2, BatchSize: 64, Epochs: 4, Order: OrderTorch, BufferSamples: int(share * 5000),
			Strategy: Solar, MaxImbalance: .5}
		r := mustReport(t, spec)
		if r.Loads != r.LoadsBound || r.BusiestOverMeanStep > 1.02 || r.MaxBatch <= 70 || r.MinBatch >= 60 {
			t.Errorf("share %v: %d loads, bound %d; busiest over mean %v; batches of %d to %d", share, r.Loads, r.LoadsBound, r.BusiestOverMeanStep, r.MinBatch, r.MaxBatch)
		}
		spec.MaxImbalance = .05
		if r = mustReport(t, spec); r.LoadsForced <= 0 || r.MaxBatch > 67 || r.MinBatch < 61 {
			t.Errorf("share %v, at most 5 %%: %d forced loads, batches of %d to %d", share, r.LoadsForced, r.MinBatch, r.MaxBatch)
		}
	}
}

// TestLoadsByStrategy holds the order in which the strategies stand on a middling plan: none reads less from storage than balanced,
// and those whose nodes share what they hold read less than the others.
func TestLoadsByStrategy(t *testing.T) {
	loads := map[string]int{}
	for _, name := range Strategies() {
		r := mustReport(t, Spec{Samples: 20_000, Nodes: 8, RanksPerNode: 1, BatchSize: 32, Epochs: 8, Order: OrderTorch, BufferSamples: 1250, Strategy: name})
		loads[name] = r.Loads
	}
	got := slices.SortedStableFunc(slices.Values(Strategies()), func(a, b string) int { return loads[a] - loads[b] })
	want := []string{Balanced, Locality, Solar, NoPFS, Belady, Pinned, LRU, NoCache}
	if !slices.Equal(got, want) {
		t.Errorf("from the fewest loads on: %v, want %v; %v", got, want, loads)
	}
}
