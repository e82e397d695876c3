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

// cut cuts a sweep into calls. Loads stand together if at most gap chunks lie between theirs. Of the
// loads that are left to the next sweep come those that stand between, since they are read anyway. What is taken is left out.
func (size callSize) cut(sweep []item, chunk, gap int) iter.Seq[[]item] {
	return func(yield func([]item) bool) {
		var call, passed []item // passed: left to the next sweep, seen since the call's last load
		musts, last := 0, 0
		for _, it := range sweep {
			at := int(it.sample) / chunk
			switch {
			case it.taken:
				continue
			case it.later && len(call) > 0 && at == last:
				call = append(call, it)
				continue
			case it.later:
				passed = append(passed, it)
				continue
			}
			together := len(call) > 0 && at-last <= gap+1
			if at != last && (musts >= size.most || musts >= size.few && !together) {
				if !yield(call) {
					return
				}
				call, musts, together = nil, 0, false
			}
			for _, p := range passed {
				if together || int(p.sample)/chunk == at {
					call = append(call, p)
				}
			}
			passed = passed[:0]
			call = append(call, it)
			musts, last = musts+1, at
		}
		if len(call) > 0 {
			yield(call)
		}
	}
}
