package peers

import "iter"

// epochs counts: begun are those whose Begin has been called, told those whose order is known beside the first.
type epochs struct{ begun, told int }

// begin starts an epoch and hands on what is told: tell may be nil.
func (e *epochs) begin(fresh iter.Seq[[]uint32], tell func(epoch int, order []uint32)) {
	e.begun++
	if fresh == nil {
		return
	}
	for order := range fresh {
		e.told++
		if tell != nil {
			tell(e.told, order)
		}
	}
}

// now is the epoch that is being dealt.
func (e *epochs) now() int { return e.begun - 1 }

// last tells whether no epoch follows: then nothing is kept.
func (e *epochs) last() bool { return e.told < e.begun }
