package planner

import (
	"runtime"
	"testing"

	"solarfs/balance"
)

// weighed notes the most memory that is in use while its policy plans.
type weighed struct {
	policy
	steps, step int
	most        uint64
}

func (w *weighed) Step(batch []uint32, regular int) *balance.Dealt {
	d := w.policy.Step(batch, regular)
	if w.step++; w.step%w.steps <= 1 { // after an epoch's last step and its first
		w.most = max(w.most, inUse())
	}
	return d
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.GC() // what the first one found is free after the second
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestPlanBytes compares PlanBytes and NodeBytes with the memory that is in use.
func TestPlanBytes(t *testing.T) {
	base := Spec{Samples: 100_000, Nodes: 4, RanksPerNode: 2, BatchSize: 32, Epochs: 8, Order: OrderTorch, BufferSamples: 12_500}
	for _, name := range Strategies() {
		spec := base
		spec.Strategy = name
		t.Run(name, func(t *testing.T) { planBytes(t, spec) })
	}
	for name, change := range map[string]func(*Spec){
		"foresight":    func(s *Spec) { s.BufferSamples, s.Epochs = 25_000, 40 },
		"small, even":  func(s *Spec) { s.BatchSize, s.RanksPerNode = 2, 1 },
		"small":        func(s *Spec) { s.BatchSize, s.RanksPerNode, s.MaxImbalance = 2, 1, .5 },
		"drop last":    func(s *Spec) { s.DropLast, s.Samples = true, 100_100 },
		"chunks of 16": func(s *Spec) { s.Chunk, s.ChunkSamples = 16, []int{16} },
		"chunks of 4":  func(s *Spec) { s.Chunk, s.ChunkSamples, s.BufferSamples = 4, []int{4}, 2_500 },
		"block":        func(s *Spec) { s.Chunk, s.Order, s.BlockChunks, s.BufferSamples = 16, OrderBlock, 8, 1000 },
	} {
		spec := base
		change(&spec)
		t.Run(name, func(t *testing.T) { planBytes(t, spec) })
	}
}

func planBytes(t *testing.T, spec Spec) {
	before := inUse()
	schedule, err := NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	w := &weighed{policy: schedule.policy, steps: spec.Steps()}
	schedule.policy = w
	for range 3 {
		e, _ := schedule.Next()
		schedule.Reuse(e)
	}
	near(t, "a plan", float64(w.most)-float64(before), spec.PlanBytes())
	e, _ := schedule.Next()
	only := e.Only(1)
	e = nil
	before = inUse()
	runtime.KeepAlive(only)
	only = nil
	near(t, "a node's part", float64(before)-float64(inUse()), spec.NodeBytes())
	runtime.KeepAlive(schedule)
}

func near(t *testing.T, what string, got float64, said int64) {
	t.Helper()
	if ratio := got / float64(said); ratio < .4 || ratio > 1.5 {
		t.Errorf("%s takes %.0f bytes, %.2f of the %d that are said", what, got, ratio, said)
	}
}
