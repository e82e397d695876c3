package cache

import "time"

// How long the window may stand still, that is, a reader waits for a step that gets no memory while none comes back. Each
// is long beside a step and short beside a person's patience.
const (
	// unseen is for a rank that has not read since the window began: nobody may ever read it.
	unseen = 2 * time.Second
	// late is for a rank that has read: its program may evaluate or write a checkpoint while the others' loaders run ahead.
	late = 30 * time.Second
	// grace is for memory that no rank holds back but what readers keep open.
	grace = 2 * time.Second
	// hurried is the grace of a window that has stood still already, until it has moved by its whole span: who keeps
	// what was read open would make it stand still at every step.
	hurried = grace / 40
)

// standing is since when the window stands still. Its lock is the window's.
type standing struct {
	starved bool      // the pipeline waits for memory
	since   time.Time // since when, with somebody who waits for the pipeline; zero: anew from the next who does
	left    time.Time // when the last reader that waited was interrupted: it may come back, or may not
	calm    int       // the step from which on the window has its full grace
}

// moved begins anew.
func (s *standing) moved() { s.since = time.Time{} }

// patienceLocked is how long a reader ahead of the window may wait before it looks again; 0 if it has waited enough and
// is served as a stray. It takes ranks that held the window back for too long out of account.
func (w *window) patienceLocked(asking int) time.Duration {
	s := &w.mu.standing
	now := time.Now()
	if s.since.IsZero() || !s.left.IsZero() && now.Sub(s.left) > grace {
		s.since = now
	}
	s.left = time.Time{}
	if !s.starved {
		return late // the pipeline is at work
	}
	stood := now.Sub(s.since)
	if holders := w.holdersLocked(asking); len(holders) > 0 {
		if left := w.dismissLocked(holders, stood); left > 0 {
			return left
		}
		return w.patienceLocked(asking)
	}
	if left := w.graceLocked() - stood; left > 0 {
		return left
	}
	s.calm = w.mu.hi + w.span
	return 0
}

// holdersLocked are the ranks that hold back the window for which a rank waits.
func (w *window) holdersLocked(asking int) (holders []*rankPlace) {
	floor := w.mu.ranks[asking].high - w.span/2
	for i := range w.mu.ranks {
		if r := &w.mu.ranks[i]; i != asking && r.active && r.high < floor {
			holders = append(holders, r)
		}
	}
	return holders
}

// dismissLocked takes the ranks out of account that have held the window back for too long, and returns for how long one
// has to wait for the others; 0 if some have been taken out: what they held comes free only now.
func (w *window) dismissLocked(holders []*rankPlace, stood time.Duration) time.Duration {
	left, dismissed := late, false
	for _, r := range holders {
		if more := r.patience() - stood; more > 0 {
			left = min(left, more)
		} else {
			r.active, dismissed = false, true
		}
	}
	if !dismissed {
		return left
	}
	w.mu.moved()
	w.discardLocked()
	return 0
}

// graceLocked is how long the window may stand still for what is kept open.
func (w *window) graceLocked() time.Duration {
	if w.mu.hi < w.mu.calm {
		return hurried
	}
	return grace
}

// starving notes that the pipeline waits for memory; fed, that it has got some.
func (w *window) starving() { w.starve(true) }
func (w *window) fed()      { w.starve(false) }

func (w *window) starve(starved bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mu.starved == starved {
		return
	}
	w.mu.starved = starved
	w.mu.moved()
	if starved {
		w.moveLocked() // who waits begins to count
	}
}

// interrupted notes that a reader has left that waited.
func (w *window) interrupted() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mu.left = time.Now()
}
