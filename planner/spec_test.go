package planner

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	good := Spec{Samples: 100, Nodes: 2, RanksPerNode: 2, BatchSize: 4, Epochs: 3, Order: OrderTorch, BufferSamples: 10, ChunkSamples: []int{1, 8}}
	for _, c := range []struct {
		change func(*Spec)
		want   string
	}{
		{func(*Spec) {}, ""},
		{func(s *Spec) { s.Samples = 0 }, "samples is 0; give a number from 1 to 4294967295"},
		{func(s *Spec) { s.Samples = math.MaxUint32 + 1 }, "samples is 4294967296; give a number from 1 to 4294967295"},
		{func(s *Spec) { s.Samples = math.MaxUint32 }, ""},
		{func(s *Spec) { s.Nodes = 0 }, "nodes is 0"},
		{func(s *Spec) { s.Nodes = 65536 }, "from 1 to 65535"},
		{func(s *Spec) { s.RanksPerNode = -1 }, "ranks per node is -1"},
		{func(s *Spec) { s.BatchSize = 0 }, "batch size is 0"},
		{func(s *Spec) { s.Epochs = 0 }, "epochs is 0"},
		{func(s *Spec) { s.Epochs = 100_001 }, "from 1 to 100000"},
		{func(s *Spec) { s.BufferSamples = -5 }, "buffer samples is -5"},
		{func(s *Spec) { s.Nodes, s.RanksPerNode = 60000, 1000 }, "give fewer"},
		{func(s *Spec) { s.BatchSize, s.Nodes = math.MaxUint32, 60000 }, "give a smaller one"},
		{func(s *Spec) { s.Order = "random" }, `order is "random"; give "torch", "sequential" or "block"`},
		{func(s *Spec) { s.ChunkSamples = []int{1, 0} }, "field 1 has 0 samples per storage chunk"},
		{func(s *Spec) { s.Samples, s.DropLast = 15, true }, "no step is left"},
		{func(s *Spec) { s.Samples, s.DropLast = 16, true }, ""},
		{func(s *Spec) { s.Samples, s.Nodes, s.RanksPerNode, s.BatchSize = math.MaxUint32, 1, 1, 1 }, "4294967295 steps are more than an epoch can have here (2147483647)"},
		{func(s *Spec) { s.Samples, s.Nodes, s.RanksPerNode, s.BatchSize = math.MaxUint32, 1, 1, 3 }, ""},
		{func(s *Spec) { s.Samples, s.Nodes, s.RanksPerNode, s.BatchSize = math.MaxUint32, 65535, 1, 2 }, ""},
	} {
		s := good
		c.change(&s)
		if got := errorText(s.Validate()); (c.want == "") != (got == "") || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q, want %q", s, got, c.want)
		}
	}
	if _, err := NewSchedule(Spec{}); err == nil {
		t.Error("a schedule of the zero Spec")
	}
	if _, err := MakeReport(Spec{}, nil); err == nil {
		t.Error("a report of the zero Spec")
	}
	if Verify(Spec{}) == nil {
		t.Error("the zero Spec is certified")
	}
}

func TestSizes(t *testing.T) {
	for _, c := range []struct {
		spec                    Spec
		steps, tail, positions  int
		allBuffers, loads3Epoch int
	}{
		{Spec{Samples: 100, Nodes: 2, RanksPerNode: 2, BatchSize: 4, BufferSamples: 10}, 7, 1, 100, 20, 260},
		{Spec{Samples: 101, Nodes: 2, RanksPerNode: 2, BatchSize: 4, BufferSamples: 51}, 7, 2, 104, 101, 101},
		{Spec{Samples: 101, Nodes: 2, RanksPerNode: 2, BatchSize: 4, BufferSamples: 50, DropLast: true}, 6, 4, 96, 100, 96},
		{Spec{Samples: 1, Nodes: 3, RanksPerNode: 2, BatchSize: 4, BufferSamples: 0}, 1, 1, 6, 0, 3},
		{Spec{Samples: 64, Nodes: 1, RanksPerNode: 1, BatchSize: 64, BufferSamples: math.MaxInt}, 1, 64, 64, 64, 64},
	} {
		c.spec.Epochs = 3
		s := c.spec
		if s.Steps() != c.steps || s.Rows(s.Steps()-1) != c.tail || s.Positions() != c.positions || s.allBuffers() != c.allBuffers || s.LoadsBound() != c.loads3Epoch {
			t.Errorf("%+v: %d steps, %d rows at last, %d positions, %d buffered, %d loads", s, s.Steps(), s.Rows(s.Steps()-1), s.Positions(), s.allBuffers(), s.LoadsBound())
		}
	}
}
