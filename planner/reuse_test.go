package planner

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Plans whose epochs' memory is used again are the same, of all strategies.
func TestReuse(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	draws := []func(*rand.Rand) Spec{randomSpec, droppySpec, chunkedSpec, unevenSpec, blockSpec}
	for i := range 400 {
		spec := draws[i%len(draws)](r)
		spec.Strategy = Strategies()[i%len(Strategies())]
		if spec.Validate() != nil {
			continue // of blocks and chunks there is balanced alone
		}
		var want []string
		for _, e := range epochs(t, spec) {
			want = append(want, fmt.Sprintf("%x", e.Digest()))
		}
		report, err := MakeReport(spec, nil)
		if err != nil || !slices.Equal(report.Digests, want) {
			t.Fatalf("%+v: %v, %v, want %v", spec, err, report.Digests, want)
		}
	}
}
