package peers

import (
	"cmp"
	"slices"

	"solarfs/balance"
)

// candidate is a sample that a node has at hand when a step is over: the i-th of its batch, used again at that time.
type candidate struct{ i, time int }

// minimum keeps what is used soonest again: Belady's MIN (IBM Systems Journal 5, 1966), with bypass, since a sample that is used later than
// all that the buffer holds does not enter it.
type minimum struct {
	pending
	candidates []candidate
}

// offer adds a candidate for the next keep.
func (m *minimum) offer(i, time int) { m.candidates = append(m.candidates, candidate{i, time}) }

// keep decides which of the candidates of node k enter or stay, and what gives way to them. The candidates are used up.
func (m *minimum) keep(k int, d *balance.Dealt) {
	samples, fates := d.Node(k)
	slices.SortFunc(m.candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.i, b.i))
	})
	for _, c := range m.candidates { // the soonest first, so none gives way to a later one
		if !m.room(k, c.time) {
			break
		}
		if m.held[k] == m.buffer {
			gone, _ := m.take(k, m.latest(k))
			d.Drops = append(d.Drops, balance.Moved{Node: uint16(k), Sample: gone})
		}
		m.add(k, samples[c.i], c.time)
		fates[c.i] |= balance.Keep
	}
	m.candidates = m.candidates[:0]
}
