package slowfs

import (
	"fmt"
	"time"
)

// Speed is what a store can do.
type Speed struct {
	Latency   time.Duration // of each request
	Bandwidth int64         // of all requests together, in bytes per second; 0: no limit
	AtOnce    int           // requests that are served at the same time
}

const (
	// burst is how much of the pipe's idle time can be made up for. Without it, the
	// moments in which a late answer or a client leaves the pipe idle add up.
	burst = time.Millisecond
	// maxAtOnce keeps a slip of the keyboard from taking all memory.
	maxAtOnce = 1 << 16
)

func (s Speed) check() error {
	switch {
	case s.Latency < 0:
		return fmt.Errorf("latency %v: give 0 or more", s.Latency)
	case s.Bandwidth < 0:
		return fmt.Errorf("bandwidth of %d bytes/s: give 0 (no limit) or more", s.Bandwidth)
	case s.AtOnce < 1 || s.AtOnce > maxAtOnce:
		return fmt.Errorf("%d requests at once: give 1 to %d", s.AtOnce, maxAtOnce)
	}
	return nil
}

// transfer is how long size bytes take, never less than the bandwidth allows.
func (s Speed) transfer(size int) time.Duration {
	if s.Bandwidth == 0 {
		return 0
	}
	return time.Duration((int64(size)*int64(time.Second) + s.Bandwidth - 1) / s.Bandwidth)
}

// schedule says when requests are answered. It counts on answers to be given when
// they are due: one that is late delays no other, so the figures hold however late
// the machine's timers are.
//
// Requests are answered in the order in which they came, so each gets the slot of
// the one that came AtOnce before it. Times are since the start.
type schedule struct {
	speed Speed
	slots []time.Duration // when each slot is free
	next  int             // the slot that is free first
	pipe  time.Duration   // when the bytes so far have passed, were none late
	last  time.Duration   // when the last request is answered
}

func newSchedule(s Speed) schedule {
	return schedule{speed: s, slots: make([]time.Duration, s.AtOnce)}
}

// due takes in a request for size bytes at the time now, not before the last
// one's, and returns when it is answered.
func (s *schedule) due(now time.Duration, size int) time.Duration {
	ready := max(now, s.slots[s.next]) + s.speed.Latency
	pass := s.speed.transfer(size)
	s.pipe = max(s.pipe, ready-burst) + pass
	s.last = max(s.last, s.pipe, ready+pass)
	s.slots[s.next] = s.last
	s.next = (s.next + 1) % len(s.slots)
	return s.last
}
