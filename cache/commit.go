package cache

import (
	"context"
	"errors"

	"solarfs/h5backend"
	"solarfs/planner"
)

// commit finishes steps in plan order: what is in the buffer's slots is copied into the batch files, samples
// leave and enter it, the batch files become ready.
func (c *Cache) commit(ctx context.Context, placed <-chan *step, slots *slots) error {
	for s := range placed {
		slots.awaits(s)
		select {
		case <-s.read: // ends early when ctx does
		case <-ctx.Done():
		}
		if ctx.Err() != nil {
			continue // restart takes the step back
		}
		m := &committing{c: c, step: s, bad: map[*batchFile]bool{}}
		m.fill(ctx)
		m.keep()
		c.stats.committed(s.g/c.stepsPerEpoch, m.status)
		slots.committed(m.inSlots)
		s.done()
		c.window.made(s, m.bad)
	}
	return ctx.Err()
}

// committing is one step while it is committed.
type committing struct {
	c       *Cache
	step    *step
	bad     map[*batchFile]bool // files that lack something
	leaves  []uint32            // planned hits that are not kept
	missing []missing
	inSlots int // loads that were read into slots
	status  EpochStatus
}

// missing is a load that failed, or a planned hit that is not in the buffer.
type missing struct {
	sample uint32
	keep   bool
	files  []*batchFile
	row    int
	failed bool
}

// failed logs why a batch file lacks something; one line for a file is enough.
func (m *committing) failed(f *batchFile, err error) {
	if !m.bad[f] {
		m.bad[f] = true
		m.log("a batch could not be made ahead; it is tried again when it is read", err)
	}
}

func (m *committing) log(what string, err error) {
	m.c.failed(err)
	m.c.log.Error(what, "epoch", m.step.g/m.c.stepsPerEpoch, "step", m.step.g%m.c.stepsPerEpoch, "err", err)
}

// fill copies hits, and loads that are in slots, into the batch files, and reads what is missing.
func (m *committing) fill(ctx context.Context) {
	loads := m.step.loads[:m.step.due]
	m.c.eachRow(m.step.ep, m.step.g%m.c.stepsPerEpoch, func(local, row int, sample uint32, fate planner.Fate) {
		files, keep := m.step.files[local], fate&planner.Keep != 0
		var there bool
		if len(loads) > 0 && int(loads[0].rank) == local && int(loads[0].row) == row {
			there = m.fillFromSlot(&loads[0], files)
			loads = loads[1:]
		} else if there = m.fillFromBuffer(sample, files, row); there {
			m.status.Hits++
		}
		if fate == 0 {
			m.leaves = append(m.leaves, sample)
		}
		if !there {
			m.missing = append(m.missing, missing{sample: sample, keep: keep, files: files, row: row})
		}
	})
	if len(m.missing) > 0 {
		m.readMissing(ctx)
	}
}

func (m *committing) fillFromSlot(l *load, files []*batchFile) bool {
	if l.failed || l.slot == inFile {
		return !l.failed
	}
	for field, f := range files {
		copy(f.row(int(l.row)), m.c.buffer.part(uint32(l.slot), field))
	}
	return true
}

func (m *committing) fillFromBuffer(sample uint32, files []*batchFile, row int) bool {
	for field, f := range files {
		if !m.c.buffer.copyOut(f.row(row), sample, field, 0) {
			return false
		}
	}
	return true
}

// readMissing reads what could not be read before, and what should have been in the buffer: an earlier load failed, or a rider
// found no room.
func (m *committing) readMissing(ctx context.Context) {
	var reads []h5backend.Request
	for _, x := range m.missing {
		for field, f := range x.files {
			reads = append(reads, h5backend.Request{Field: field, Sample: x.sample, Dst: f.row(x.row)})
		}
	}
	m.c.cfg.Now.Read(ctx, reads)
	for i := range m.missing {
		x := &m.missing[i]
		for field, f := range x.files {
			if err := reads[i*len(x.files)+field].Err; err != nil {
				x.failed = true
				m.failed(f, err)
			}
		}
		if !x.failed {
			m.status.Loads++
		}
	}
}

// keep lets samples leave and enter the buffer as planned. A sample that was not read does not enter. What is in slots
// comes first, for not all of it stays.
func (m *committing) keep() {
	t := m.step.g % m.c.stepsPerEpoch
	for _, sample := range append(m.leaves, m.step.ep.Drops(t, m.c.cfg.Node)...) {
		m.c.buffer.leave(sample)
	}
	for i := range m.step.loads {
		m.settle(&m.step.loads[i])
	}
	for i := range m.step.loads {
		if l := &m.step.loads[i]; !l.rider && l.keep && l.slot == inFile && !l.failed {
			m.enter(l.sample, m.step.files[l.rank], int(l.row))
		}
	}
	m.status.Loads += m.status.Riders
	m.status.RidersMissed = int64(len(m.step.ep.Riders(t, m.c.cfg.Node))) - m.status.Riders
	if err := m.step.rides.err; err != nil { // one line for a step is enough
		m.log("a sample that is kept for later could not be read; it is read again when it is needed", err)
	}
	for _, x := range m.missing {
		if x.keep && !x.failed {
			m.enter(x.sample, x.files, x.row)
		}
	}
}

// settle counts a load, and keeps it in its slot or frees that.
func (m *committing) settle(l *load) {
	switch {
	case l.failed:
	case l.rider:
		m.status.Riders++
	default:
		m.status.Loads++
	}
	if l.slot == inFile {
		return
	}
	m.inSlots++
	if !l.keep || l.failed || !m.c.buffer.admit(l.sample, uint32(l.slot)) {
		m.c.buffer.giveBack(uint32(l.slot))
	}
}

// enter copies a sample from its row of the batch files.
func (m *committing) enter(sample uint32, files []*batchFile, row int) {
	parts := make([][]byte, len(files))
	for field, f := range files {
		parts[field] = f.row(row)
	}
	if !m.c.buffer.enter(sample, parts) {
		m.c.log.Error("the buffer is fuller than the plan says; a sample is not kept", "sample", sample)
	}
}

// failed notes what could not be read. After a change of the source nothing is
// opened any more: what was made before it and what would be read now must not
// be mixed.
func (c *Cache) failed(err error) {
	c.stats.failed(err)
	if errors.Is(err, ErrStale) {
		c.window.end(err)
	}
}
