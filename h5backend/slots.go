package h5backend

import (
	"context"
	"sync"
)

// slots are the places of a Reader's reads, each with its scratch memory: as many as the depth, which may change.
type slots struct {
	free chan *scratch // who takes one may read

	mu          sync.Mutex
	depth, made int        // made: in free or in use; more than depth until enough of them come back
	spare       []*scratch // of a larger depth before
}

// newSlots makes depth slots, which may become most.
func newSlots(depth, most int) *slots {
	s := &slots{free: make(chan *scratch, max(depth, most))}
	s.resize(depth)
	return s
}

// resize changes the depth; reads that are under way go on.
func (s *slots) resize(depth int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.depth = depth
	for ; s.made < s.depth; s.made++ {
		one := &scratch{}
		if n := len(s.spare); n > 0 {
			one, s.spare = s.spare[n-1], s.spare[:n-1]
		}
		s.free <- one
	}
	for s.made > s.depth {
		select {
		case one := <-s.free:
			s.retire(one)
		default:
			return // give takes the rest
		}
	}
}

// retire puts a slot away. It must be called with mu held.
func (s *slots) retire(one *scratch) {
	s.spare = append(s.spare, one)
	s.made--
}

// take waits for a slot, or until ctx ends.
func (s *slots) take(ctx context.Context) (*scratch, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case one := <-s.free:
		return one, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *slots) give(one *scratch) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made > s.depth {
		s.retire(one)
		return
	}
	s.free <- one // never waits: there is room for all that are made
}

func (s *slots) now() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.depth
}
