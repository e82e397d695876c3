package h5backend

import (
	"sync"
	"sync/atomic"
	"time"

	"solarfs/storage"
)

// meter cuts what a Reader reads into blocks for its Tuner, and sets gap and depth as that says. A block counts if the Reader was
// saturated: pieces waited for slots. What the storage gives shows if those were held for reading rather than for decoding.
type meter struct {
	gap   atomic.Int64
	slots *slots

	mu      sync.Mutex
	tuner   *storage.Tuner
	waiting int       // calls of Read that wait for slots
	since   time.Time // when nobody waited any more
	warm    int       // reads until the block begins: those that were under way before
	began   time.Time
	idle    time.Duration // of the block: nobody waited
	block   spent
}

// spent is what slots were held for.
type spent struct {
	reads, bytes  int
	reading, held time.Duration
	failed        bool
}

// A block has at least so many reads, the depth often, and takes so long that the clock's and the scheduler's grain are small in it.
const (
	blockReads = 64
	blockDepth = 4
	blockTime  = 10 * time.Millisecond
)

// idlePart is how much of a block, one part of so many, may pass with nobody waiting.
const idlePart = 5

func newMeter(slots *slots, tuner *storage.Tuner) *meter {
	m := &meter{slots: slots, tuner: tuner}
	s := tuner.Setting()
	m.gap.Store(s.Gap)
	m.since = time.Now()
	m.restart(m.since)
	return m
}

// restart begins a block when what is under way has been read.
func (m *meter) restart(now time.Time) {
	m.warm, m.began, m.idle, m.block = m.tuner.Setting().Depth, now, 0, spent{}
}

// wait counts a call that begins to wait for slots (1) or has them all (-1).
func (m *meter) wait(calls int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	before := m.waiting
	m.waiting += calls
	switch {
	case m.waiting == 0:
		m.since = time.Now()
	case before == 0:
		now := time.Now()
		if m.idle += now.Sub(m.since); m.idle > now.Sub(m.began)/idlePart {
			m.restart(now)
		}
	}
}

// done counts what a slot was held for.
func (m *meter) done(s spent) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	if s.failed {
		m.restart(now)
		return
	}
	if m.warm > 0 {
		if m.warm--; m.warm == 0 {
			m.began, m.idle = now, 0
		}
		return
	}
	b := &m.block
	b.reads, b.bytes, b.reading, b.held = b.reads+s.reads, b.bytes+s.bytes, b.reading+s.reading, b.held+s.held
	before := m.tuner.Setting()
	if took := now.Sub(m.began); b.reads >= max(blockReads, blockDepth*before.Depth) && took >= blockTime {
		m.end(now, took, before)
	}
}

// end hands the block to the tuner, if it tells anything, and begins the next.
func (m *meter) end(now time.Time, took time.Duration, before storage.Setting) {
	b := m.block
	switch {
	case m.waiting == 0 || m.idle > took/idlePart:
		m.restart(now)
		return
	case b.reading < b.held/2:
		m.tuner.Spare()
	default:
		m.tuner.Observe(storage.Block{Demand: storage.Demand{Requests: float64(b.reads), Bytes: float64(b.bytes)}, Seconds: took.Seconds()})
	}
	m.began, m.idle, m.block = now, 0, spent{}
	next := m.tuner.Setting()
	m.gap.Store(next.Gap)
	if next.Depth != before.Depth {
		m.slots.resize(next.Depth)
	}
	if next.Differs(before) {
		m.restart(now)
	}
}

func (m *meter) speed() storage.Speed {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.tuner.Speed()
}
