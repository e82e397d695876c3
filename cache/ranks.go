package cache

import "time"

// jumpAfter is how many batches in a row, read forwards outside the window,
// make the window move there: fewer would follow a random reader.
const jumpAfter = 4

// widestSkip is how many batches a reader may leave out and still count as
// reading forwards, however small the window is.
const widestSkip = 16

// rankPlace is how far one local rank has read.
type rankPlace struct {
	active bool // it was not found idle since it last came further
	seen   bool // it has read since the window began
	high   int  // the last step it opened
	stray  int  // batches it opened in a row, forwards, outside the window
	last   int  // the last of these
}

// patience is for how long a rank that does not read may hold the others back.
func (r *rankPlace) patience() time.Duration {
	if r.seen {
		return late
	}
	return unseen
}

// beginLocked expects every rank at step from. One that never comes is found
// idle when the others have run ahead of it.
func (w *window) beginLocked(from int) {
	if w.mu.hi < w.mu.calm {
		w.mu.calm = from + w.span
	} else {
		w.mu.calm = 0
	}
	w.mu.lo, w.mu.hi = from, from
	w.mu.moved()
	select {
	case <-w.jump: // asked for before this beginning
	default:
	}
	for i := range w.mu.ranks {
		w.mu.ranks[i] = rankPlace{active: true, high: from - 1, last: w.mu.ranks[i].last}
	}
}

// advanceLocked notes that a rank has come to step g, and discards what all
// ranks have passed without reading it. Half a window is left to loaders whose
// workers open batches out of order.
func (w *window) advanceLocked(place *rankPlace, g int) {
	if g > place.high {
		place.active, place.seen, place.high = true, true, g
		w.discardLocked()
	}
	for i := range w.mu.ranks {
		w.mu.ranks[i].stray = 0
	}
}

// discardLocked gives up what lies half a window behind the slowest active
// rank.
func (w *window) discardLocked() {
	floor := w.mu.hi
	for _, r := range w.mu.ranks {
		if r.active {
			floor = min(floor, r.high-w.span/2)
		}
	}
	for g := w.mu.lo; g < floor; g++ {
		for _, files := range w.mu.entries[g].files {
			for _, f := range files {
				w.retireLocked(f)
			}
		}
	}
	w.moveLocked()
}

// strayLocked counts batches read forwards outside the window, and asks the
// pipeline to go there when they make a run and nobody reads in the window.
func (w *window) strayLocked(place *rankPlace, g int) {
	if g > place.last && g <= place.last+max(w.span, widestSkip) {
		place.stray++
	} else if g != place.last {
		place.stray = 0
	}
	place.last = g
	if place.stray < jumpAfter || g+1 >= w.steps {
		return
	}
	place.stray = 0
	select {
	case <-w.jump: // the latest request counts
	default:
	}
	w.jump <- g + 1
}
