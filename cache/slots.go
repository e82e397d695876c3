package cache

import (
	"context"
	"sync"
)

// slots tells how many loads may be read into slots of the buffer before their step's commit, so that the commits before it
// still find room for what they keep.
//
// mu guards all, and the steps' files until they are set. When a load takes a slot, the loads in slots and the most samples that are
// held after any step that is planned and not yet committed, but the last one, are all at most, together. That is enough: a
// load's own step, and those after it, find it committed.
type slots struct {
	all int
	mu  struct {
		sync.Mutex
		ahead   int   // loads in slots whose step is not committed
		last    int   // held after the last planned step; -1 when that is committed
		held    []int // after the last commit and after each step planned since, but the last
		peaks   []int // of held, as indices: each the largest from the one before it on
		gone    int   // how many of held have been dropped; indices count from the beginning
		waiting *step // the commit waits for what it lacks; nil: for none
		changed chan struct{}
	}
}

func newSlots(all, held int) *slots {
	s := &slots{all: all}
	s.mu.changed = make(chan struct{})
	s.mu.last = -1
	s.pushLocked(held)
	return s
}

// planned notes how many samples are held after the next step.
func (s *slots) planned(held int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.last >= 0 {
		s.pushLocked(s.mu.last)
	}
	s.mu.last = held
}

func (s *slots) pushLocked(held int) {
	n := len(s.mu.peaks)
	for n > 0 && s.mu.held[s.mu.peaks[n-1]-s.mu.gone] <= held {
		n--
	}
	s.mu.peaks = append(s.mu.peaks[:n], s.mu.gone+len(s.mu.held))
	s.mu.held = append(s.mu.held, held)
}

// roomLocked is how many loads more may take slots.
func (s *slots) roomLocked() int {
	return s.all - s.mu.held[s.mu.peaks[0]-s.mu.gone] - s.mu.ahead
}

// place gives a step its files.
func (s *slots) place(st *step, files [][]*batchFile) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.files = files
	s.moveLocked()
}

// awaits says that the commit waits for a step that has its files.
func (s *slots) awaits(st *step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.waiting = st
	s.moveLocked()
}

// committed notes that the oldest step is, of whose loads so many were in slots.
func (s *slots) committed(inSlots int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.waiting = nil
	s.mu.ahead -= inSlots
	if len(s.mu.held) == 1 {
		s.pushLocked(s.mu.last)
		s.mu.last = -1
	}
	s.mu.held = s.mu.held[1:]
	s.mu.gone++
	if s.mu.peaks[0] < s.mu.gone {
		s.mu.peaks = s.mu.peaks[1:]
	}
	s.moveLocked()
}

func (s *slots) moveLocked() {
	close(s.mu.changed)
	s.mu.changed = make(chan struct{})
}

// grant finds a place for each load of a call, and waits until there is one: a row of its file where its step has files and it is
// no rider, else a slot. Loads that are left to the next sweep take what is to spare. It returns the loads to be read, and fills in which take slots
// (their number is still to be drawn from the buffer). If the commit waits for loads that are not under way, it returns that step
// instead: its loads can be read straight into its files, and nothing else may move until they are.
func (s *slots) grant(ctx context.Context, call []item, spare spare) (granted []item, urgent *step, err error) {
	for {
		s.mu.Lock()
		need := 0
		for _, it := range call {
			if !it.later && !it.inFile() {
				need++
			}
		}
		if room := s.roomLocked(); need <= room {
			granted = s.takeLocked(call, room-need, spare)
			s.mu.Unlock()
			return granted, nil, nil
		}
		waiting, changed := s.mu.waiting, s.mu.changed
		s.mu.Unlock()
		if waiting != nil && waiting.untaken > 0 {
			return nil, waiting, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// takeLocked takes a place for each load, and for those that are left to the next sweep while more than spare is left of room.
func (s *slots) takeLocked(call []item, room int, spare spare) (granted []item) {
	for _, it := range call {
		it.slot = inFile
		if !it.inFile() {
			if it.later {
				least := spare.between
				if it.beside {
					least = spare.beside
				}
				if room <= least {
					continue
				}
				room--
			}
			it.slot = inSlot
			s.mu.ahead++
		}
		it.take()
		granted = append(granted, it)
	}
	return granted
}

// hurry takes a place for each load of a step that the commit waits for, and returns them: rows of its files, and slots for
// riders as far as there are any. Riders without one are left out: their hits will find them missing.
func (s *slots) hurry(st *step) (granted []item, leftOut int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	room := s.roomLocked()
	for i := range st.loads {
		it := item{st, &st.loads[i]}
		if it.taken {
			continue
		}
		it.take()
		it.slot = inFile
		if it.rider && room <= 0 {
			it.failed = true
			leftOut++
			continue
		}
		if it.rider {
			room--
			s.mu.ahead++
			it.slot = inSlot
		}
		granted = append(granted, it)
	}
	return granted, leftOut
}
