package fsnode

import (
	"sort"
	"testing"

	"solarfs/planner"
)

func smallTree(t testing.TB) *tree {
	spec := planner.Spec{Samples: 40, Nodes: 2, RanksPerNode: 2, BatchSize: 3, Epochs: 3, Order: "torch"}
	tr, err := newTree(spec, []string{"X", "Y.train"}, []string{"plan.json", "status.json"}, 2, 4)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// Every node that a walk of the directories finds has its own number, and
// number and name lead back to it.
func TestNumbersAndNamesLeadBack(t *testing.T) {
	tr := smallTree(t)
	seen := map[uint64]node{}
	var walk func(dir node)
	walk = func(dir node) {
		var names []string
		for i := range tr.entries(dir) {
			n := tr.entry(dir, i)
			number := tr.number(n)
			if other, dup := seen[number]; dup {
				t.Fatalf("%+v and %+v share number %d", n, other, number)
			}
			seen[number] = n
			if back, ok := tr.node(number); !ok || back != n {
				t.Errorf("number %d of %+v leads to %+v, %v", number, n, back, ok)
			}
			if back, ok := tr.child(dir, tr.name(n)); !ok || back != n {
				t.Errorf("name %q of %+v leads to %+v, %v", tr.name(n), n, back, ok)
			}
			if tr.parent(n) != dir {
				t.Errorf("%+v: parent %+v, want %+v", n, tr.parent(n), dir)
			}
			names = append(names, tr.name(n))
			if n.isDir() {
				walk(n)
			}
		}
		if !sort.StringsAreSorted(names) {
			t.Errorf("directory %+v is not in the order of names: %v", dir, names)
		}
	}
	walk(node{kind: kindRoot})
	if want := 1 + 2 + 3 + 3*2*(1+2+4*2); len(seen) != want {
		t.Errorf("%d nodes, want %d", len(seen), want)
	}
}

func TestNamesThatAreNotThere(t *testing.T) {
	tr := smallTree(t)
	epoch, rank := node{kind: kindEpoch}, node{kind: kindRank, rank: 2}
	for _, c := range []struct {
		dir  node
		name string
	}{
		{node{}, "epoch-0003"}, {node{}, "epoch-1"}, {node{}, "epoch-00001"}, {node{}, "epoch--001"}, {node{}, "epoch-+001"}, {node{}, ""},
		{epoch, "rank-0000"}, {epoch, "rank-0004"}, {rank, "batch-000000"}, {rank, "batch-000000.npy"}, {rank, "batch-000004.X.npy"},
		{rank, "batch-000000.Z.npy"}, {rank, "batch-000000.X.npz"}, {rank, "batch-00000.X.npy"}, {node{kind: kindBatch}, "x"},
	} {
		if n, ok := tr.child(c.dir, c.name); ok {
			t.Errorf("%q is found as %+v", c.name, n)
		}
	}
	for _, number := range []uint64{0, 5, firstEpoch - 1, firstEpoch + 3*tr.epochBlock(), ^uint64(0)} {
		if n, ok := tr.node(number); ok {
			t.Errorf("number %d is %+v", number, n)
		}
	}
}

func FuzzNames(f *testing.F) {
	tr := smallTree(f)
	for _, name := range []string{"epoch-0001", "rank-0003", "batch-000002.Y.train.npy", "samples.npy", ".solarfs", "plan.json"} {
		f.Add(name)
	}
	dirs := []node{{kind: kindRoot}, {kind: kindControlDir}, {kind: kindEpoch, epoch: 1}, {kind: kindRank, epoch: 2, rank: 3}}
	f.Fuzz(func(t *testing.T, name string) {
		for _, dir := range dirs {
			if n, ok := tr.child(dir, name); ok && (tr.name(n) != name || tr.parent(n) != dir) {
				t.Errorf("%q in %+v is %+v, called %q", name, dir, n, tr.name(n))
			}
		}
	})
}
