package cache

import (
	"slices"
	"time"

	"solarfs/internal/memfd"
)

// limboTime is how long a file that came back may look used before it counts as
// mapped. The kernel needs microseconds; a busy machine may need a time slice.
const limboTime = 20 * time.Millisecond

type inLimbo struct {
	file  *memfd.File
	since time.Time
}

// limboMoves fires when it is worth looking into limbo again.
func (p *pool) limboMoves() <-chan time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.limbo) == 0 {
		return nil
	}
	return time.After(limboTime / 20)
}

// sweepLocked frees the files in limbo that nobody uses any more and gives up
// those that have been used for too long.
func (p *pool) sweepLocked() {
	p.mu.limbo = slices.DeleteFunc(p.mu.limbo, func(l inLimbo) bool {
		unused := l.file.Unused()
		if !unused && time.Since(l.since) < limboTime {
			return false
		}
		p.freeLocked(l.file, unused)
		return true
	})
}
