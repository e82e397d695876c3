package storage

import (
	"math"
	"testing"
)

func TestSeconds(t *testing.T) {
	for _, c := range []struct {
		name  string
		model Model
		nodes []Demand
		want  float64
	}{
		{"IOPS", Model{IOPS: 500}, []Demand{{1000, 1e12}}, 2},
		{"latency", Model{Latency: .01}, []Demand{{100, 0}}, 1},
		{"depth", Model{Latency: .01, Depth: 4}, []Demand{{100, 0}}, .25},
		{"the less of both", Model{IOPS: 200, Latency: .01, Depth: 4}, []Demand{{100, 0}}, .5},
		{"bytes", Model{IOPS: 200, Bandwidth: 50}, []Demand{{100, 100}}, 2},
		{"no sum of both", Model{IOPS: 200, Bandwidth: 200}, []Demand{{100, 100}}, .5},
		{"slowest node", Model{IOPS: 100}, []Demand{{100, 0}, {300, 0}, {0, 0}}, 3},
		{"each in its own way", Model{IOPS: 100, Bandwidth: 100}, []Demand{{200, 0}, {0, 250}}, 2.5},
		{"the store", Model{Bandwidth: 100, StoreBandwidth: 150}, []Demand{{0, 100}, {0, 100}}, 200. / 150},
		{"no limits", Model{}, []Demand{{1e9, 1e18}}, 0},
		{"nothing", Model{IOPS: 1}, nil, 0},
	} {
		if got := c.model.Seconds(c.nodes...); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%s: %v s, want %v", c.name, got, c.want)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, m := range []Model{{Latency: -1}, {IOPS: math.NaN()}, {Bandwidth: math.Inf(1)}, {StoreBandwidth: -1e-9}, {Depth: -1}} {
		if m.Validate() == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
	if err := slow.Validate(); err != nil {
		t.Error(err)
	}
	for _, spoil := range []func(*Job){
		func(j *Job) { j.Samples = 0 }, func(j *Job) { j.Nodes = 0 }, func(j *Job) { j.StepSamples = 0 }, func(j *Job) { j.Epochs = 0 },
		func(j *Job) { j.StepSeconds = math.NaN() }, func(j *Job) { j.Fields = nil }, func(j *Job) { j.Fields[0].ChunkSamples = 0 }, func(j *Job) { j.Fields[0].ChunkBytes = 0 },
	} {
		j := example(1)
		spoil(&j)
		if j.Validate() == nil {
			t.Errorf("%+v is accepted", j)
		}
	}
}

// Half of 1000 samples at random: of the 499 gaps 1/2 are none, 1/4 are one sample, 1/8 two.
func TestReads(t *testing.T) {
	half := lots([]slice{{1, 500}}, 1000, 1e-9, Field{1, 10})
	for _, c := range []struct{ gap, requests, bytes float64 }{
		{0, 1 + 499./2, 5000},
		{9, 1 + 499./2, 5000},
		{10, 1 + 499./4, 5000 + 10*499./4},
		{20, 1 + 499./8, 5000 + 10*(499./4+2*499./8)},
		{1e4, 1, 10 * (500 + 499)}, // all but the ends
	} {
		if d := reads(half, 10, c.gap); math.Abs(d.Requests-c.requests) > 1e-6 || math.Abs(d.Bytes-c.bytes) > 1e-4 {
			t.Errorf("gap %v: %+v, want %v requests and %v bytes", c.gap, d, c.requests, c.bytes)
		}
	}
	// Two samples a chunk: a chunk is needed unless neither of its samples is.
	if d := reads(lots([]slice{{1, 500}}, 1000, 1e-9, Field{2, 20}), 20, 1e9); math.Abs(d.Bytes-20*(375+374./3)) > 1e-4 {
		t.Errorf("chunks: %+v", d)
	}
	// A sweep over a whole epoch meets samples twice: at a border in the middle 1/2 of each, at its ends none; 1/6 in the mean.
	if d := reads(lots([]slice{{1, 1000}}, 1000, 1, Field{1, 10}), 10, 0); math.Abs(d.Bytes-10*1000*5./6) > 60 {
		t.Errorf("repeats: %+v", d)
	}
}

// All slices together are the sweep and the file, and the node's own part lies where its share of the file is.
func TestSlices(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 16, 1000} {
		for _, kept := range []float64{0, .3, .9, 1} {
			width, loads := 0.0, 0.0
			all := example(nodes).slices(50000*max(.1, 1-kept), kept, 700)
			for _, s := range all {
				width, loads = width+s.width, loads+s.loads
			}
			if math.Abs(width-1) > 1e-9 || math.Abs(loads-700) > 1e-6 {
				t.Errorf("%d nodes, %v kept: %v of the file, %v of 700 loads", nodes, kept, width, loads)
			}
			if got := all[0].loads / 700; nodes > 1 && math.Abs(got-kept*all[0].width) > 1e-9 {
				t.Errorf("%d nodes, %v kept: %v of the loads far from the node's own part", nodes, kept, got)
			}
		}
	}
}
