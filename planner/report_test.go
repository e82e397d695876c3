package planner

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestReportFigures computes the figures that Verify does not, anew and plainly from the batches.
func TestReportFigures(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 1))
	for range 300 {
		spec := fillable(randomSpec(r))
		spec.ChunkSamples = append(spec.ChunkSamples, 1)
		var reads []int
		var busiest, busiest16, later float64
		for _, e := range epochs(t, spec) {
			read, step1, step16, loads := plainFigures(spec, e)
			reads = append(reads, read)
			if e.Index > 0 {
				busiest, busiest16, later = busiest+step1, busiest16+step16, later+loads
			}
		}
		want, want16 := 1.0, 1.0
		if later > 0 {
			mean := later / float64(spec.Nodes)
			want, want16 = busiest/mean, busiest16/mean
		}
		got := mustReport(t, spec)
		if !slices.Equal(got.StorageReadsByEpoch, reads) || math.Abs(got.BusiestOverMeanStep-want) > 1e-9 || math.Abs(got.BusiestOverMean16Steps-want16) > 1e-9 {
			t.Fatalf("%+v: %+v, want reads %v, busiest %v and %v", spec, got, reads, want, want16)
		}
	}
}

// plainFigures returns an epoch's chunks read, the busiest node's loads summed over steps and over runs of 16 steps, and all loads.
func plainFigures(spec Spec, e *Epoch) (reads int, step1, step16, loads float64) {
	chunks := map[string]bool{} // distinct (step, node, field, chunk)
	runs := make([]float64, spec.Nodes)
	for step := range spec.Steps() {
		one := make([]float64, spec.Nodes)
		for rank := range spec.Ranks() {
			samples, fates := e.Batch(step, rank)
			node := rank / spec.RanksPerNode
			for i, s := range samples {
				if fates[i]&Load == 0 {
					continue
				}
				loads++
				one[node]++
				runs[node]++
				for field, size := range spec.ChunkSamples {
					chunks[fmt.Sprint(step, node, field, int(s)/size)] = true
				}
			}
		}
		step1 += slices.Max(one)
		if step%16 == 15 || step == spec.Steps()-1 {
			step16 += slices.Max(runs)
			clear(runs)
		}
	}
	return len(chunks), step1, step16, loads
}

func TestReportJSON(t *testing.T) {
	spec := Spec{Samples: 40, Nodes: 2, RanksPerNode: 2, BatchSize: 4, Epochs: 3, Order: OrderTorch, BufferSamples: 10, ChunkSamples: []int{1}}
	var seen []int
	report, err := MakeReport(spec, func(e *Epoch, _ *Schedule) { seen = append(seen, e.Index) })
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(seen, []int{0, 1, 2}) {
		t.Errorf("epochs seen %v", seen)
	}
	got, err := json.Marshal(report)
	if err != nil {
		t.Fatal(err)
	}
	var keys map[string]any
	if err := json.Unmarshal(got, &keys); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"samples", "epochs", "steps_per_epoch", "nodes", "ranks", "batch_size", "strategy", "buffer_samples_per_node", "loads", "loads_bound",
		"loads_forced", "loads_padded", "loads_riders", "remote", "loads_bound_by_epoch", "loads_by_epoch", "storage_reads_by_epoch", "hit_rate", "max_batch", "min_batch", "busiest_over_mean_step",
		"busiest_over_mean_16_steps", "digest", "digests"} {
		if keys[key] == nil {
			t.Errorf("no %q in %s", key, got)
		}
		delete(keys, key)
	}
	if len(keys) > 0 {
		t.Errorf("also there: %v", keys)
	}
	if report.Loads != 80 || report.LoadsByEpoch[1] != 20 || report.HitRate != 1.0/3 || report.Strategy != "balanced" {
		t.Errorf("%+v", report)
	}
}

func TestDigestOf(t *testing.T) {
	r, err := MakeReport(Spec{Samples: 50, Nodes: 2, RanksPerNode: 1, BatchSize: 4, Epochs: 3, Order: OrderTorch}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := DigestOf(r.Digests); err != nil || got != r.Digest {
		t.Errorf("%q, %v; want %q", got, err, r.Digest)
	}
	for _, bad := range []string{"", "00", "xy", r.Digest + "00"} {
		if got, err := DigestOf([]string{bad}); err == nil {
			t.Errorf("%q: %q", bad, got)
		}
	}
}
