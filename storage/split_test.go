package storage

import (
	"math"
	"math/rand/v2"
	"testing"
)

// room is memory that holds, over all nodes, a part of the example's samples.
func room(part float64, nodes int) Room {
	return Room{Bytes: int64(part * 50000 * (64 << 10) / float64(nodes)), KeptBytes: 64 << 10, StepBytes: 64 * 64 << 10}
}

// The targets, and nothing on another grid of windows is clearly better. With -v it prints the table.
func TestDivide(t *testing.T) {
	targets := map[float64]float64{.2: 27, .5: 19, .85: 9} // seconds on one node; an uncached loader takes 100
	for _, store := range []float64{0, 1e9} {
		for _, nodes := range []int{1, 4, 16} {
			for _, part := range []float64{.2, .5, .85} {
				m, j, r := slow, example(nodes), room(part, nodes)
				m.StoreBandwidth = store
				s := Divide(m, j, r)
				window := float64(s.Window) / (64 << 10) * float64(nodes) / 50000
				keepOnly := Predict(m, j, part-.025, .025*50000/float64(nodes))
				t.Logf("store %3.1f GB/s, %2d nodes, memory %.2f: kept %.3f + window %.3f: %5.2f s; window .025: %5.2f s", store/1e9, nodes, part, j.kept(s.Kept), window, s.Seconds, keepOnly.Seconds)
				if nodes == 1 && s.Seconds > targets[part] {
					t.Errorf("%.2f s, at most %v were to be reached", s.Seconds, targets[part])
				}
				for i := range 31 {
					other, _ := r.try(m, j, r.least(m, j)+int64(float64(r.most(j)-r.least(m, j))*float64(i)/30))
					if other.Seconds < s.Seconds/1.055 {
						t.Errorf("%.2f s, but %.2f s with a window of %d bytes", s.Seconds, other.Seconds, other.Window)
					}
				}
			}
		}
	}
}

// Where requests are cheap, all is kept but the least window.
func TestDivideKeepsOnCheapRequests(t *testing.T) {
	nvme := Model{Latency: 50e-6, Depth: 16, Bandwidth: 2e9}
	for _, nodes := range []int{1, 4, 16} {
		for _, part := range []float64{.2, .5, .85} {
			j, r := example(nodes), room(part, nodes)
			if s := Divide(nvme, j, r); s.Window > r.least(nvme, j)+r.KeptBytes || j.kept(s.Kept) < part*.75 {
				t.Errorf("%d nodes, memory %v: %+v", nodes, part, s)
			}
		}
	}
}

func TestDivideEnds(t *testing.T) {
	step := int64(64 * 64 << 10)
	for _, c := range []struct {
		name   string
		room   int64
		window int64
		kept   int
	}{
		{"one step's room", step, step, 0},
		{"two steps' and a request's", 2*step + 20*64<<10, 2*step + 16*64<<10, 4},
		{"the set fits", 50000*64<<10 + 40*step, 40 * step, 50000},
		{"more than set and epoch", 1 << 40, 782 * step, 50000},
	} {
		s := Divide(slow, example(1), Room{c.room, 64 << 10, step})
		if s.Window != c.window || s.Kept != c.kept {
			t.Errorf("%s: window %d, kept %d; want %d and %d", c.name, s.Window, s.Kept, c.window, c.kept)
		}
	}
}

// In a job of one epoch kept samples save nothing.
func TestDivideOneEpoch(t *testing.T) {
	j := example(1)
	j.Epochs = 1
	if s := Divide(slow, j, room(.1, 1)); s.Kept > 500 {
		t.Errorf("%+v", s)
	}
}

// Whatever the job, the parts fit in the room and the figures are numbers that can be.
func TestDivideRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	scale := func(most float64) float64 { return math.Exp(r.Float64() * math.Log(most)) }
	for range 60 {
		j := Job{Samples: int(scale(4e9)), Nodes: int(scale(1e3)), StepSamples: int(scale(1e4)), Epochs: int(scale(1e3))}
		for range 1 + r.IntN(2) {
			j.Fields = append(j.Fields, Field{int(scale(100)), int64(scale(1e8))})
		}
		m := Model{Latency: r.Float64() * .1, Depth: r.IntN(32), IOPS: float64(r.IntN(2)) * scale(1e6), Bandwidth: float64(r.IntN(2)) * scale(1e10), StoreBandwidth: float64(r.IntN(2)) * scale(1e11)}
		if err := j.Validate(); err != nil {
			t.Fatal(err)
		}
		kept := int64(scale(1e8))
		room := Room{int64(scale(1e13)), kept, max(1, int64(float64(kept)*float64(j.StepSamples)*(1+r.Float64())))}
		s := Divide(m, j, room)
		epoch := j.steps() * float64(room.StepBytes)
		if s.Window < 0 || s.Kept < 0 || s.Window+int64(s.Kept)*kept > room.Bytes || float64(s.Window) > epoch*(1+1e-9) {
			t.Errorf("%+v %+v %+v: %+v", m, j, room, s)
		}
		if !(s.Seconds >= 0) || math.IsInf(s.Seconds, 0) || !(s.Requests >= 0) || !(s.Bytes >= 0) || s.Loads > float64(j.Samples) {
			t.Errorf("%+v %+v %+v: %+v", m, j, room, s)
		}
	}
}

func BenchmarkDivide(b *testing.B) {
	for b.Loop() {
		Divide(slow, example(16), room(.5, 16))
	}
}
