package report

import (
	"math"
	"slices"
)

const (
	singleNodes = 8  // up to here each node has a line of its own, and a colour that can be told from the others
	shownNodes  = 64 // up to here each node's mean is shown
)

// spread sums LoadsPerNode up: what stays readable, and small, with any number of nodes.
type spread struct {
	Min    []float64 `json:"loads_per_step_min"` // [point], over the nodes
	Mean   []float64 `json:"loads_per_step_mean"`
	Max    []float64 `json:"loads_per_step_max"`
	ByNode []float64 `json:"loads_per_step_by_node"` // [node], mean over the epoch's steps from Steps[0] on
}

func newSpread(r Row) *spread {
	if len(r.LoadsPerNode) == 0 || len(r.Steps) == 0 {
		return nil
	}
	s := &spread{}
	for point := range r.Steps {
		low, high, sum := math.Inf(1), math.Inf(-1), 0.0
		for _, loads := range r.LoadsPerNode {
			low, high, sum = min(low, loads[point]), max(high, loads[point]), sum+loads[point]
		}
		s.Min, s.Max = append(s.Min, low), append(s.Max, high)
		s.Mean = append(s.Mean, sum/float64(len(r.LoadsPerNode)))
	}
	for _, loads := range r.LoadsPerNode {
		s.ByNode = append(s.ByNode, r.meanOverSteps(loads))
	}
	return s
}

// meanOverSteps weighs each point by the steps it stands for.
func (r Row) meanOverSteps(points []float64) float64 {
	sum, steps := 0.0, 0
	for i, v := range points {
		end := r.StepsPerEpoch
		if i+1 < len(r.Steps) {
			end = r.Steps[i+1]
		}
		sum, steps = sum+v*float64(end-r.Steps[i]), steps+end-r.Steps[i]
	}
	return sum / float64(steps)
}

// rounded returns the row with its series at the precision that the page has throughout: a thousandth of a sample, a millionth of a share.
// Without it, thousands of means of 17 digits would be most of the page.
func (r Row) rounded() Row {
	r.HitShare = roundAll(r.HitShare, 1e6)
	r.LoadsPerNode = slices.Clone(r.LoadsPerNode)
	for node, loads := range r.LoadsPerNode {
		r.LoadsPerNode[node] = roundAll(loads, 1e3)
	}
	return r
}

func (s *spread) rounded() *spread {
	if s == nil {
		return nil
	}
	return &spread{Min: roundAll(s.Min, 1e3), Mean: roundAll(s.Mean, 1e3), Max: roundAll(s.Max, 1e3), ByNode: roundAll(s.ByNode, 1e3)}
}

func roundAll(values []float64, scale float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = math.Round(v*scale) / scale
	}
	return out
}
