package cache

import (
	"cmp"
	"sync"
	"sync/atomic"

	"solarfs/batchfile"
	"solarfs/internal/memfd"
	"solarfs/planner"
)

type fileState uint8

const (
	making fileState = iota // the pipeline is filling it
	ready                   // readers may have it
	failed                  // a load of it failed; it holds its place, its readers go the stray way
	gone                    // read or discarded; its memory is back in the pool
)

// batchFile is the content of one batch file of the window.
//
// The window's lock guards state, opens and lent. The bytes of file belong to
// the pipeline while making and never change while ready.
type batchFile struct {
	file   *memfd.File
	layout batchfile.Layout
	done   chan struct{} // closed when the state leaves making

	state fileState
	opens int
	lent  bool // its descriptor was given to the kernel
}

// row is the slot of row i in the file.
func (b *batchFile) row(i int) []byte {
	at := b.layout.RowOffset(i)
	return b.file.Data[at : at+int64(b.layout.RowBytes)]
}

// load is a sample that is read for a step: for a row of one of its batches, or as a rider, for a later step.
type load struct {
	sample uint32
	row    uint32 // of the batch
	slot   int32  // of the buffer, where it is read to; inFile if that is its row
	rank   uint16 // local
	keep   bool   // in the buffer after the step
	rider  bool
	taken  bool // its read has been set off, or it is left out; the lookahead's own
	later  bool // the next sweep reads it; the lookahead's own
	beside bool // it is left to the next sweep, and a request of this one would grow to read it; the lookahead's own
	failed bool // it was not read; valid once the step's read is closed
}

// What a load's slot says before it has one.
const (
	inFile = -1 // none: it is read straight into its batch file
	inSlot = -2 // one is to be taken
)

// step is one global step of this node: its batch files and how they are made.
type step struct {
	g      int
	ep     *planner.Epoch
	files  [][]*batchFile // [local rank][field]; nil until there is memory for them, under the lock of slots
	loads  []load         // in the order of the ranks' rows, then the riders
	due    int            // of the loads, those that are no riders
	unread atomic.Int32   // loads that have not been read
	read   chan struct{}  // closed when all has been read, or has failed

	untaken int // loads whose read has not been set off; the lookahead's own

	rides struct { // the first read of a rider that failed
		sync.Mutex
		err error
	}
}

// over notes that n loads of the step have been read, or never will be.
func (s *step) over(n int) {
	if n > 0 && s.unread.Add(int32(-n)) == 0 {
		close(s.read)
	}
}

func (s *step) rideFailed(err error) {
	s.rides.Lock()
	defer s.rides.Unlock()
	s.rides.err = cmp.Or(s.rides.err, err)
}

// newStep lists the loads of step t of an epoch. held tells which samples will be in the buffer when the step is committed,
// and becomes what is in it after the step. A planned hit that is not held (a load failed, a rider found no room, or the
// mount began in mid-plan) becomes a load. Riders are left out if there are no slots for them.
func (c *Cache) newStep(ep *planner.Epoch, t int, held *sampleSet) *step {
	s := &step{g: ep.Index*c.stepsPerEpoch + t, ep: ep, read: make(chan struct{})}
	var leaves []uint32
	c.eachRow(ep, t, func(local, row int, sample uint32, fate planner.Fate) {
		keep := fate&planner.Keep != 0
		if fate&planner.Load != 0 || !held.has(sample) {
			s.loads = append(s.loads, load{sample: sample, row: uint32(row), rank: uint16(local), keep: keep})
		} else if !keep {
			leaves = append(leaves, sample)
		}
	})
	s.due = len(s.loads)
	for _, sample := range append(leaves, ep.Drops(t, c.cfg.Node)...) {
		held.remove(sample)
	}
	if c.ahead > 0 {
		for _, sample := range ep.Riders(t, c.cfg.Node) {
			s.loads = append(s.loads, load{sample: sample, keep: true, rider: true})
		}
	}
	for _, l := range s.loads {
		if l.keep {
			held.add(l.sample)
		}
	}
	s.untaken = len(s.loads)
	s.unread.Store(int32(s.untaken))
	if len(s.loads) == 0 {
		close(s.read)
	}
	return s
}

// eachRow goes through the rows of this node's batches in step t of an epoch.
func (c *Cache) eachRow(ep *planner.Epoch, t int, each func(local, row int, sample uint32, fate planner.Fate)) {
	for local := range c.cfg.Spec.RanksPerNode {
		samples, fates := ep.Batch(t, c.cfg.Node*c.cfg.Spec.RanksPerNode+local)
		for row, sample := range samples {
			each(local, row, sample, fates[row])
		}
	}
}

// done lets go of the lists: the files wait for their readers, the lists need not.
func (s *step) done() { s.loads, s.ep = nil, nil }

// passed tells whether all files of the step are gone.
func (s *step) passed() bool {
	for _, files := range s.files {
		for _, f := range files {
			if f.state != gone {
				return false
			}
		}
	}
	return true
}
