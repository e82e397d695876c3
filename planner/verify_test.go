package planner

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestCertificate(t *testing.T) {
	r := rand.New(rand.NewPCG(2211, 224))
	for range 500 {
		for _, spec := range []Spec{fillable(randomSpec(r)), droppySpec(r), chunkedSpec(r), unevenSpec(r), blockSpec(r)} {
			if err := Verify(spec); err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
		}
	}
}

// TestVerifyFindsFaults spoils a plan in each way and expects the certificate to be refused, by name.
func TestVerifyFindsFaults(t *testing.T) {
	spec := Spec{Samples: 100, Nodes: 2, RanksPerNode: 2, BatchSize: 4, Epochs: 3, Order: OrderTorch, BufferSamples: 20, Chunk: 1}
	first := func(e *Epoch, fate Fate) int { return slices.Index(e.fates, fate) }
	for _, c := range []struct {
		name  string
		spoil func(e *Epoch)
		want  string
	}{
		{"nothing", func(*Epoch) {}, ""},
		{"a sample twice", func(e *Epoch) { e.samples[1] = e.samples[0] }, "more often than there"},
		{"a foreign sample", func(e *Epoch) { e.samples[3] = e.samples[99] }, "step 0, node 0: sample"},
		{"rows swapped", func(e *Epoch) { e.samples[0], e.samples[1] = e.samples[1], e.samples[0] }, "not in the order"},
		{"a hit that is none", func(e *Epoch) { e.fates[first(e, Load)] = 0 }, "is a hit, but not in the buffer"},
		{"kept too many", func(e *Epoch) { e.fates[first(e, Load)] |= Keep }, "its size is 20"},
		{"a rider whose chunk is not read", func(e *Epoch) { e.riders = lists{}; e.riders.append(1, e.samples[99]) }, "from a chunk that no load"},
		{"a drop of what is not there", func(e *Epoch) { e.drops = lists{}; e.drops.append(1, e.samples[0]) }, "is dropped"},
		{"a wrong count", func(e *Epoch) { e.stats.Loads-- }, "its execution gives"},
		{"a wrong bound", func(e *Epoch) { e.stats.Bound++; e.stats.Forced-- }, "its execution gives"},
		{"a hit for a load", func(e *Epoch) { e.fates[first(e, 0)] |= Load }, "its size is 20"},
		{"a wrong epoch", func(e *Epoch) { e.Index++ }, "follows where"},
	} {
		schedule, err := NewSchedule(spec)
		if err != nil {
			t.Fatal(err)
		}
		v := newVerifier(spec)
		e, _ := schedule.Next()
		if err := v.epoch(e); err != nil {
			t.Fatal(err)
		}
		e, _ = schedule.Next()
		c.spoil(e)
		err = v.epoch(e)
		if got := errorText(err); (c.want == "") != (err == nil) || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestVerifyRepeats: a repeat must be a load that is not kept.
func TestVerifyRepeats(t *testing.T) {
	spec := Spec{Samples: 3, Nodes: 1, RanksPerNode: 4, BatchSize: 1, Epochs: 2, Order: OrderSequential, BufferSamples: 4}
	schedule, _ := NewSchedule(spec)
	e, _ := schedule.Next()
	e.fates[3] |= Keep
	if got := errorText(newVerifier(spec).epoch(e)); !strings.Contains(got, "epoch 0, step 0, node 0: sample 0 is a hit or is kept") {
		t.Errorf("%q", got)
	}
}

func TestVerifyLastEpoch(t *testing.T) {
	spec := Spec{Samples: 4, Nodes: 1, RanksPerNode: 1, BatchSize: 1, Epochs: 1, Order: OrderSequential, BufferSamples: 4}
	schedule, _ := NewSchedule(spec)
	e, _ := schedule.Next()
	e.fates[2] |= Keep
	if got := errorText(newVerifier(spec).epoch(e)); !strings.Contains(got, "epoch 0, step 2, node 0: sample 2 is kept in the last epoch") {
		t.Errorf("%q", got)
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func FuzzVerify(f *testing.F) {
	names := Strategies()
	f.Add(uint16(100), uint8(2), uint8(2), uint8(4), uint8(3), int64(0), false, false, uint16(20), uint8(0), uint8(0))
	f.Add(uint16(1), uint8(3), uint8(2), uint8(1), uint8(2), int64(-1), true, false, uint16(0), uint8(0), uint8(10))
	f.Add(uint16(50), uint8(4), uint8(1), uint8(3), uint8(4), int64(9), true, true, uint16(90), uint8(0), uint8(0))
	for i := range names {
		f.Add(uint16(203), uint8(3), uint8(2), uint8(7), uint8(4), int64(5), false, i%2 == 0, uint16(50), uint8(i), uint8(30))
	}
	f.Fuzz(func(t *testing.T, samples uint16, nodes, ranks, batch, epochs uint8, seed int64, sequential, dropLast bool, buffer uint16, strategy, imbalance uint8) {
		spec := Spec{Samples: int(samples) % 2000, Nodes: int(nodes) % 20, RanksPerNode: int(ranks) % 10, BatchSize: int(batch), Epochs: int(epochs) % 6,
			Seed: seed, Order: OrderTorch, DropLast: dropLast, BufferSamples: int(buffer), ChunkSamples: []int{1 + int(batch)%5},
			Strategy: names[int(strategy)%len(names)], MaxImbalance: float64(imbalance%100) / 100}
		if sequential {
			spec.Order = OrderSequential
		}
		if spec.Validate() != nil {
			return
		}
		if err := Verify(spec); err != nil {
			t.Fatalf("%+v: %v", spec, err)
		}
	})
}
