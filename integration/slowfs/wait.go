package slowfs

import (
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// clock waits. It knows how late the machine's timers are at best, some tens of
// microseconds, and sets them that much earlier.
type clock struct{ late atomic.Int64 } // in ns

// maxEarly bounds what is waited for without sleeping.
const maxEarly = 200 * time.Microsecond

// waitUntil returns at due or as soon after it as the machine manages, never before.
func (c *clock) waitUntil(due time.Time) {
	alarm := due.Add(-time.Duration(c.late.Load()))
	if time.Until(alarm) > 0 {
		sleepUntil(alarm)
		c.learn(time.Since(alarm))
	}
	for time.Until(due) > 0 { // some microseconds, as a rule
	}
}

// learn follows what timers are late at best: quickly down, slowly up. Of calls
// at the same time one may be lost, which only slows it down.
func (c *clock) learn(late time.Duration) {
	old := time.Duration(c.late.Load())
	share := time.Duration(32)
	if late < old {
		share = 4
	}
	c.late.Store(int64(min(old+(late-old)/share, maxEarly)))
}

// sleepUntil sleeps in the kernel. time.Sleep is up to a millisecond late in an
// idle program, since Go's poller counts in whole milliseconds. The kernel's own
// allowance for being late is a thread's, and threads come and go.
func sleepUntil(alarm time.Time) {
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // where it fails, 50 microseconds are allowed
	for left := time.Until(alarm); left > 0; left = time.Until(alarm) {
		span := unix.NsecToTimespec(int64(left))
		unix.Nanosleep(&span, nil) // a signal may end it, hence the loop
	}
}
