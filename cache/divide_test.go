package cache

import (
	"testing"

	"solarfs/h5backend"
	"solarfs/planner"
)

// A window for all files of the job has no slots, unless riders need them.
func TestWindowForTheWholeJob(t *testing.T) {
	spec := planner.Spec{Samples: 1024, Nodes: 1, RanksPerNode: 1, BatchSize: 64, Epochs: 2, Chunk: 1}
	fields := []h5backend.Field{{DType: "<f4", Shape: []int{1024}, Bytes: 4096}}
	job := int64(spec.Epochs*spec.Steps()) * StepBytes(spec, fields)
	for name, c := range map[string]struct {
		window        int64
		epochs, chunk int
		slots         bool
	}{
		"all":            {job, 2, 1, false},
		"one byte less":  {job - 1, 2, 1, true},
		"all, in chunks": {job, 2, 16, true},
		"endless":        {job, 1 << 50, 1, true},
	} {
		cfg := Config{Spec: spec, Fields: fields, Memory: Split{Window: c.window}}
		cfg.Spec.Epochs, cfg.Spec.Chunk = c.epochs, c.chunk
		if files, ahead := cfg.divideWindow(); ahead > 0 != c.slots || !c.slots && files != c.window {
			t.Errorf("%s: %d of %d bytes for files, %d slots", name, files, c.window, ahead)
		}
	}
}
