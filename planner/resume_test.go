package planner

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestResume: from any epoch on, a resumed schedule plans what the whole one does.
func TestResume(t *testing.T) {
	r := rand.New(rand.NewPCG(57, 100))
	whole := func(r *rand.Rand) Spec { // the buffers hold all, so that many epochs are foreseen
		s := fillable(randomSpec(r))
		s.BufferSamples = ceilDiv(s.Samples, s.Nodes)
		return s
	}
	resumed := 0
	for range 300 {
		for _, draw := range []func(*rand.Rand) Spec{randomSpec, droppySpec, chunkedSpec, unevenSpec, blockSpec, whole} {
			spec := fillable(draw(r))
			spec.Epochs = 2 + r.IntN(5)
			from := 1 + r.IntN(spec.Epochs-1)
			all := epochs(t, spec)
			walk, err := NewSchedule(spec)
			if err != nil {
				t.Fatal(err)
			}
			for walk.Epoch() < from {
				walk.Next()
			}
			again, err := Resume(spec, from, slices.Clone(walk.Owners()))
			if err != nil {
				t.Fatalf("%+v: %v", spec, err)
			}
			for e, ok := again.Next(); ok; e, ok = again.Next() {
				resumed++
				if e.Digest() != all[e.Index].Digest() {
					t.Fatalf("%+v: epoch %d, resumed at %d, is another", spec, e.Index, from)
				}
			}
			if again.Epoch() != spec.Epochs {
				t.Fatalf("%+v: ended before epoch %d", spec, again.Epoch())
			}
		}
	}
	t.Log(resumed, "epochs compared")
}

func TestResumeRefuses(t *testing.T) {
	spec := Spec{Samples: 4, Nodes: 2, RanksPerNode: 1, BatchSize: 1, Epochs: 3, Order: OrderTorch, BufferSamples: 1}
	lru := spec
	lru.Strategy = LRU
	for _, c := range []struct {
		spec   Spec
		epoch  int
		owners []uint16
		want   string
	}{
		{spec, 0, []uint16{0, 1, Nobody, Nobody}, "do not fit"},
		{spec, 3, []uint16{0, 1, Nobody, Nobody}, "do not fit"},
		{spec, 1, []uint16{0, 1, Nobody}, "do not fit"},
		{spec, 1, []uint16{0, 2, Nobody, Nobody}, "held by node 2 of 2"},
		{spec, 1, []uint16{0, 0, Nobody, Nobody}, "more than the 1 samples"},
		{lru, 1, []uint16{0, 1, Nobody, Nobody}, "cannot be resumed"},
		{Spec{}, 1, nil, "give a number"},
	} {
		if _, err := Resume(c.spec, c.epoch, c.owners); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("epoch %d, owners %v: %v, want %q", c.epoch, c.owners, err, c.want)
		}
	}
}

// TestPeek: an epoch that was looked at is the one that comes next, and all after it are the same.
func TestPeek(t *testing.T) {
	spec := Spec{Samples: 90, Nodes: 3, RanksPerNode: 1, BatchSize: 4, Epochs: 4, Order: OrderTorch, BufferSamples: 20}
	all := epochs(t, spec)
	s, err := NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range all {
		before := s.Owners()
		first, ok := s.Peek()
		again, _ := s.Peek()
		if !ok || first != again || s.Epoch() != want.Index || s.Owners() != nil || before == nil {
			t.Fatalf("epoch %d: looking at it goes on", want.Index)
		}
		if next, _ := s.Next(); next != first || next.Digest() != want.Digest() || s.Epoch() != want.Index+1 {
			t.Fatalf("epoch %d: another one comes than was looked at", want.Index)
		}
	}
	if _, ok := s.Peek(); ok {
		t.Error("there is an epoch after the last")
	}
}
