package cache

import (
	"iter"
	"slices"
)

// item is one load of a step.
type item struct {
	step *step
	*load
}

// inFile tells whether it can be read straight into its batch file: its step has files, and it is no rider.
func (it item) inFile() bool { return it.step.files != nil && !it.rider }

// take sets it aside for one read.
func (it item) take() {
	it.taken = true
	it.step.untaken--
}

// sweeper puts loads into the order in which they are read: in sweeps over the file, as an elevator goes.
//
// The loads are counted in the order of their steps, and a sweep is given some of them, its due ones. The j-th of them is read in
// this sweep if it is the j-th or a later one in the file, too; otherwise the sweep has passed it when it comes up, and the next one
// reads it. So a load waits half a sweep for its step in the mean, and everything that was due in a sweep is read when the next has
// ended. Package storage predicts what that saves.
type sweeper struct {
	carry []item   // due and not read, by sample
	keys  []uint64 // of the due loads: sample and number
}

// next returns the loads of one sweep by sample, among them those that are left to the next (load.later). due are the loads
// that come up in it, in the order of their steps. whole leaves none of them to the next.
func (w *sweeper) next(due []item, whole bool) []item {
	w.keys = w.keys[:0]
	for j, it := range due {
		w.keys = append(w.keys, uint64(it.sample)<<32|uint64(j))
	}
	slices.Sort(w.keys)
	carried := slices.DeleteFunc(w.carry, func(it item) bool {
		it.later = false
		return it.taken
	})
	w.carry = nil
	all := make([]item, 0, len(carried)+len(due))
	for at, key := range w.keys {
		j := int(uint32(key))
		it := due[j]
		for len(carried) > 0 && carried[0].sample <= it.sample {
			all, carried = append(all, carried[0]), carried[1:]
		}
		if it.later = at < j && !whole; it.later {
			w.carry = append(w.carry, it)
		}
		all = append(all, it)
	}
	return append(all, carried...)
}

// callSize bounds what is asked of storage at once: few loads that do not stand together, or more that do, but not more than most
// where they could be parted.
type callSize struct{ few, most int }

// callsFor is the size of calls whose loads share so many slots.
func callsFor(slots int) callSize {
	few := min(32, max(1, slots/4))
	return callSize{few, max(few, min(512, slots/2))}
}

// cut cuts a sweep into calls. Loads stand together if at most gap chunks lie between theirs. Of the loads that are left to the next
// sweep come those that stand between, since they are read anyway, and those beside (load.beside): that spares the next sweep a
// request. What is taken is left out.
func (size callSize) cut(sweep []item, chunk, gap int) iter.Seq[[]item] {
	return func(yield func([]item) bool) {
		c := caller{chunk: chunk, reach: gap + 1}
		for _, it := range sweep {
			at := int(it.sample) / chunk
			if it.taken {
				continue
			}
			if it.later {
				c.addLater(it, at)
				continue
			}
			together := len(c.call) > 0 && at-c.last <= c.reach
			if at != c.last && (c.musts >= size.most || c.musts >= size.few && !together) {
				if !yield(c.call) {
					return
				}
				c.call, c.musts, together = nil, 0, false
			}
			c.add(it, at, together)
		}
		if len(c.call) > 0 {
			yield(c.call)
		}
	}
}

// caller makes up a call. Chunks are given as at.
type caller struct {
	chunk     int // samples
	reach     int // the most from one chunk to the next that stands together with it
	call      []item
	musts     int    // its loads that are not left to the next sweep
	last, end int    // the last one's chunk, and that of the call's last load, which may be left to the next sweep
	ahead     []item // left to the next sweep, together with each other but not with the call
	aheadEnd  int    // the chunk of the last one
}

// addLater adds one that is left to the next sweep if it stands together with the call's last one; else the next that is
// not may stand together with it.
func (c *caller) addLater(it item, at int) {
	if len(c.call) > 0 && at-c.end <= c.reach {
		it.beside = at != c.last
		c.call, c.end = append(c.call, it), at
		return
	}
	c.connect(at)
	it.beside = true
	c.ahead, c.aheadEnd = append(c.ahead, it), at
}

// add adds one that is not; together is with the one before it.
func (c *caller) add(it item, at int, together bool) {
	c.connect(at)
	c.call = append(c.call, c.ahead...)
	for k := len(c.call) - 1; k >= 0 && c.call[k].later && (together || int(c.call[k].sample)/c.chunk == at); k-- {
		c.call[k].beside = false
	}
	c.call = append(c.call, it)
	c.ahead = c.ahead[:0]
	c.musts, c.last, c.end = c.musts+1, at, at
}

// connect drops what does not stand together with chunk at.
func (c *caller) connect(at int) {
	if at-c.aheadEnd > c.reach {
		c.ahead = c.ahead[:0]
	}
}
