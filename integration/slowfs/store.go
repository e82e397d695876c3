package slowfs

import (
	"os"
	"sync"
	"time"
)

// Counts is what a store was asked for.
type Counts struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
}

// store is what all files of a mount share.
type store struct {
	source string // the directory that is shown
	speed  Speed
	start  time.Time
	clock  clock
	mu     struct {
		sync.Mutex
		schedule schedule
		counts   Counts
		open     map[*os.File]bool // those of the source
	}
}

func newStore(source string, speed Speed) *store {
	s := &store{source: source, speed: speed, start: time.Now()}
	s.mu.schedule = newSchedule(speed)
	s.mu.open = map[*os.File]bool{}
	return s
}

// request counts a request for size bytes and returns when its answer is due.
func (s *store) request(size int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.counts.Requests++
	s.mu.counts.Bytes += int64(size)
	return s.start.Add(s.mu.schedule.due(time.Since(s.start), size))
}

func (s *store) counts() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.counts
}

// reset begins the counts anew and returns what they were.
func (s *store) reset() Counts {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.mu.counts
	s.mu.counts = Counts{}
	return old
}

// open opens a file of the source.
func (s *store) open(path string) (*os.File, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.open[f] = true
	return f, nil
}

func (s *store) close(f *os.File) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.mu.open, f)
	return f.Close()
}

// closeAll closes what is still open when the mount is gone: of a file that was
// closed just before, the kernel may not have told any more.
func (s *store) closeAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for f := range s.mu.open {
		f.Close()
	}
	clear(s.mu.open)
}
