package main

import (
	"encoding/json"
	"testing"

	"solarfs/h5backend"
	"solarfs/planner"
)

// Whatever a plan file holds, it is refused or has a digest per epoch, a file,
// and sizes that can be added.
func FuzzParsePlan(f *testing.F) {
	spec := planner.Spec{Samples: 20, Nodes: 2, RanksPerNode: 1, BatchSize: 4, Epochs: 2, Order: planner.OrderTorch, BufferSamples: 5, ChunkSamples: []int{1}}
	report, err := planner.MakeReport(spec, nil)
	if err != nil {
		f.Fatal(err)
	}
	whole := planDoc{Report: report, Spec: spec, Memory: split{Limit: 100, Buffer: 50}, Files: []h5backend.FileInfo{{Path: "/x.h5"}}}
	f.Add([]byte("{}"))
	f.Add([]byte(`{"spec": {"samples": 1e9}, "digests": [""]}`))
	f.Add(whole.json())
	if _, err := parsePlan(whole.json()); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := parsePlan(text)
		if err != nil {
			return
		}
		m := d.Memory
		if len(d.Digests) != d.Spec.Epochs || len(d.Files) == 0 || m.Buffer+m.Window+m.Stray < 0 || d.Spec.BufferSamples > d.Samples {
			t.Errorf("%s", text)
		}
		if again, err := json.Marshal(d); err != nil || len(again) == 0 {
			t.Error(err)
		}
	})
}
