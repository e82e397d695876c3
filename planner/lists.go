package planner

import (
	"iter"
	"sort"

	"solarfs/balance"
)

// lists are samples by (step, node), ascending: those that leave or enter a buffer beside those that are processed.
//
// keys are the step*Nodes+node of the lists that are not empty; list i is samples[starts[i]:starts[i+1]], the last one going to the end.
type lists struct {
	keys    []uint64
	starts  []int
	samples []uint32
	step    uint64 // the next that add is called for
}

// add appends the lists of the next step, by node.
func (l *lists) add(moved []balance.Moved, nodes int) {
	for _, m := range moved {
		l.append(l.step*uint64(nodes)+uint64(m.Node), m.Sample)
	}
	l.step++
}

func (l *lists) append(key uint64, sample uint32) {
	if n := len(l.keys); n == 0 || l.keys[n-1] != key {
		l.keys = append(l.keys, key)
		l.starts = append(l.starts, len(l.samples))
	}
	l.samples = append(l.samples, sample)
}

func (l *lists) len() int { return len(l.samples) }

// of returns the list of a key.
func (l *lists) of(key int) []uint32 {
	i := sort.Search(len(l.keys), func(i int) bool { return l.keys[i] >= uint64(key) })
	if i == len(l.keys) || l.keys[i] != uint64(key) {
		return nil
	}
	return l.list(i)
}

func (l *lists) list(i int) []uint32 {
	to := len(l.samples)
	if i+1 < len(l.starts) {
		to = l.starts[i+1]
	}
	return l.samples[l.starts[i]:to:to]
}

// all yields each sample with its key.
func (l *lists) all() iter.Seq2[uint64, uint32] {
	return func(yield func(uint64, uint32) bool) {
		for i, key := range l.keys {
			for _, sample := range l.list(i) {
				if !yield(key, sample) {
					return
				}
			}
		}
	}
}

// only returns the lists whose keys pass.
func (l *lists) only(pass func(key uint64) bool) (some lists) {
	for key, sample := range l.all() {
		if pass(key) {
			some.append(key, sample)
		}
	}
	return some
}
