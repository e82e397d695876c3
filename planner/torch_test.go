package planner

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
)

// torchBatches asks the installed torch for every rank's batches: for each spec [epoch][rank][step][row].
const torchBatches = `
import json, sys
from torch.utils.data import BatchSampler, DistributedSampler
def batches(s):
    ranks = s["nodes"] * s["ranks_per_node"]
    for epoch in range(s["epochs"]):
        of_ranks = []
        for rank in range(ranks):
            sampler = DistributedSampler(range(s["samples"]), num_replicas=ranks, rank=rank, seed=s["seed"],
                                         shuffle=s["order"] == "torch", drop_last=s["drop_last"])
            sampler.set_epoch(epoch)
            of_ranks.append(list(BatchSampler(sampler, s["batch_size"], s["drop_last"])))
        yield of_ranks
json.dump([list(batches(s)) for s in json.load(sys.stdin)], sys.stdout)
`

func askTorch(t *testing.T, specs []Spec) (answer [][][][][]uint32) {
	in, err := json.Marshal(specs)
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command("/usr/bin/python3", "-c", torchBatches)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("this test needs /usr/bin/python3 with torch (Debian's python3-torch): %v\n%s", err, stderr.String())
	}
	if err := json.Unmarshal(out, &answer); err != nil {
		t.Fatal(err)
	}
	return answer
}

func torchSpecs() (specs []Spec) {
	for _, samples := range []int{1, 2, 7, 64, 100, 1009, 5000} {
		for _, size := range [][3]int{{1, 1, 1}, {1, 4, 3}, {2, 1, 8}, {3, 2, 5}, {4, 3, 16}} {
			for _, dropLast := range []bool{false, true} {
				for i, order := range []string{OrderTorch, OrderSequential} {
					s := Spec{Samples: samples, Nodes: size[0], RanksPerNode: size[1], BatchSize: size[2], Epochs: 3, Seed: int64(samples*i) + 11,
						Order: order, DropLast: dropLast, BufferSamples: samples / 3}
					if s.Steps() > 0 {
						specs = append(specs, s)
					}
				}
			}
		}
	}
	for _, seed := range []int64{0, 42, 1<<32 + 42, -1, 1<<62 + 5} {
		specs = append(specs, Spec{Samples: 700, Nodes: 2, RanksPerNode: 2, BatchSize: 9, Epochs: 2, Seed: seed, Order: OrderTorch, BufferSamples: 100})
	}
	return specs
}

// TestInstalledTorch compares whole plans with the torch that is installed: the same steps and rows, the same
// global batches, and on a single node the same batches.
func TestInstalledTorch(t *testing.T) {
	specs := torchSpecs()
	for i, epochs := range askTorch(t, specs) {
		spec := specs[i]
		single := spec
		single.Nodes, single.RanksPerNode = 1, spec.Ranks()
		compareTorch(t, spec, epochs, false)
		compareTorch(t, single, epochs, true)
		if t.Failed() {
			return
		}
	}
}

func compareTorch(t *testing.T, spec Spec, torch [][][][]uint32, exact bool) {
	schedule, err := NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	for e, ok := schedule.Next(); ok; e, ok = schedule.Next() {
		for step := range max(spec.Steps(), len(torch[e.Index][0])) {
			var got, want []uint32
			for rank := range spec.Ranks() {
				mine, _ := e.Batch(step, rank)
				got, want = append(got, mine...), append(want, torch[e.Index][rank][step]...)
				if len(mine) != len(torch[e.Index][rank][step]) {
					t.Fatalf("%+v epoch %d step %d rank %d: %d samples, torch has %d", spec, e.Index, step, rank, len(mine), len(torch[e.Index][rank][step]))
				}
			}
			if !exact {
				slices.Sort(got)
				slices.Sort(want)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%+v epoch %d step %d: %v, torch has %v", spec, e.Index, step, got, want)
			}
		}
	}
}
