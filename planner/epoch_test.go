package planner

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var rewrite = flag.Bool("rewrite", false, "write the golden files anew")

func epochs(t *testing.T, spec Spec) (all []*Epoch) {
	t.Helper()
	schedule, err := NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	for e, ok := schedule.Next(); ok; e, ok = schedule.Next() {
		all = append(all, e)
	}
	return all
}

// dump writes a plan as text: per step and rank each sample with + for a load, ' for a hit, and k where it is kept.
func dump(t *testing.T, spec Spec) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", spec)
	for _, e := range epochs(t, spec) {
		fmt.Fprintf(&b, "\nepoch %d %+v\ndigest %x\n", e.Index, e.Stats(), e.Digest())
		for step := range spec.Steps() {
			fmt.Fprintf(&b, "step %d", step)
			for rank := range spec.Ranks() {
				b.WriteString(" |")
				samples, fates := e.Batch(step, rank)
				for i, s := range samples {
					fmt.Fprintf(&b, " %d%s", s, []string{"'", "+", "'k", "+k"}[fates[i]])
				}
			}
			for node := range spec.Nodes {
				if d := e.Drops(step, node); len(d) > 0 {
					fmt.Fprintf(&b, " ; node %d drops %v", node, d)
				}
				if r := e.Riders(step, node); len(r) > 0 {
					fmt.Fprintf(&b, " ; node %d takes along %v", node, r)
				}
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func TestGolden(t *testing.T) {
	for name, spec := range map[string]Spec{
		"one-node":   {Samples: 20, Nodes: 1, RanksPerNode: 2, BatchSize: 4, Epochs: 3, Order: OrderTorch, BufferSamples: 8, ChunkSamples: []int{1, 4}},
		"two-nodes":  {Samples: 30, Nodes: 2, RanksPerNode: 2, BatchSize: 3, Epochs: 3, Seed: 7, Order: OrderTorch, BufferSamples: 8, ChunkSamples: []int{1}},
		"drop-last":  {Samples: 31, Nodes: 3, RanksPerNode: 1, BatchSize: 3, Epochs: 4, Seed: 5, Order: OrderTorch, DropLast: true, BufferSamples: 7},
		"padded":     {Samples: 5, Nodes: 2, RanksPerNode: 4, BatchSize: 1, Epochs: 2, Order: OrderTorch, BufferSamples: 3},
		"sequential": {Samples: 12, Nodes: 2, RanksPerNode: 1, BatchSize: 3, Epochs: 2, Order: OrderSequential, BufferSamples: 3},
		"chunks":     {Samples: 24, Nodes: 2, RanksPerNode: 1, BatchSize: 3, Epochs: 3, Seed: 2, Order: OrderTorch, BufferSamples: 6, Chunk: 4, ChunkSamples: []int{4}},
		"uneven":     {Samples: 32, Nodes: 2, RanksPerNode: 2, BatchSize: 4, Epochs: 3, Seed: 3, Order: OrderTorch, BufferSamples: 16, MaxImbalance: .5},
		"no-buffer":  {Samples: 9, Nodes: 2, RanksPerNode: 1, BatchSize: 2, Epochs: 2, Order: OrderTorch},
	} {
		file := filepath.Join("testdata", name+".golden")
		got := dump(t, spec)
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
			t.Errorf("%s: differs from %s; if that is meant, run with -rewrite. Got:\n%s", name, file, got)
		}
	}
}

// TestDigest pins the digest of a larger plan, on any number of processors.
func TestDigest(t *testing.T) {
	spec := Spec{Samples: 100_003, Nodes: 5, RanksPerNode: 2, BatchSize: 32, Epochs: 4, Seed: 3, Order: OrderTorch, BufferSamples: 12_000}
	const want = "385c97b797dffec656e27830361f4f862ff72384a59b11b0e019094cd511496f"
	for _, procs := range []int{1, 4} {
		old := runtime.GOMAXPROCS(procs)
		got := mustReport(t, spec).Digest
		runtime.GOMAXPROCS(old)
		if got != want {
			t.Errorf("GOMAXPROCS %d: digest %s, want %s", procs, got, want)
		}
	}
}

// TestDigestSeesAll: no two specs that give different plans have the same digest.
func TestDigestSeesAll(t *testing.T) {
	base := Spec{Samples: 64, Nodes: 2, RanksPerNode: 2, BatchSize: 4, Epochs: 2, Order: OrderTorch, BufferSamples: 8}
	others := []Spec{base, base, base, base, base}
	others[0].Seed = 1
	others[1].BufferSamples = 9
	others[2].Nodes, others[2].RanksPerNode = 4, 1
	others[3].BatchSize = 2
	others[4].Order = OrderSequential
	for _, other := range others {
		if mustReport(t, base).Digest == mustReport(t, other).Digest {
			t.Errorf("%+v has the digest of %+v", other, base)
		}
	}
	e := epochs(t, base)[0]
	e.fates[5] ^= Keep
	if digestOf(e) == e.Digest() {
		t.Error("the digest does not see a fate")
	}
}

func TestOnly(t *testing.T) {
	spec := Spec{Samples: 131, Nodes: 3, RanksPerNode: 2, BatchSize: 3, Epochs: 4, Seed: 4, Order: OrderTorch, DropLast: true, BufferSamples: 30}
	drops := 0
	for _, e := range epochs(t, spec) {
		for node := range spec.Nodes {
			only := e.Only(node).Only(node)
			if only.Digest() != e.Digest() || only.Index != e.Index || only.Stats().Loads != e.Stats().Loads {
				t.Errorf("epoch %d, node %d: not the whole's digest, index or stats", e.Index, node)
			}
			if got, want := len(only.samples), len(e.samples)/spec.Nodes; got != want {
				t.Errorf("epoch %d, node %d: holds %d samples, want %d", e.Index, node, got, want)
			}
			for step := range spec.Steps() {
				drops += len(only.Drops(step, node))
				if !slices.Equal(only.Drops(step, node), e.Drops(step, node)) {
					t.Errorf("epoch %d, step %d, node %d: other drops", e.Index, step, node)
				}
				for rank := node * spec.RanksPerNode; rank < (node+1)*spec.RanksPerNode; rank++ {
					s, f := e.Batch(step, rank)
					if os, of := only.Batch(step, rank); !slices.Equal(s, os) || !slices.Equal(f, of) {
						t.Errorf("epoch %d, step %d, rank %d: %v %v, want %v %v", e.Index, step, rank, os, of, s, f)
					}
				}
			}
		}
	}
	if drops == 0 {
		t.Error("the spec has no drops: choose another")
	}
}

func TestBatchOutside(t *testing.T) {
	spec := Spec{Samples: 8, Nodes: 2, RanksPerNode: 1, BatchSize: 2, Epochs: 1, Order: OrderTorch}
	only := epochs(t, spec)[0].Only(1)
	for _, at := range [][2]int{{0, 0}, {0, 2}, {2, 1}, {-1, 1}, {0, -1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("step %d, rank %d: no panic", at[0], at[1])
				}
			}()
			only.Batch(at[0], at[1])
		}()
	}
}
