package cache

import (
	"solarfs/batchfile"
	"solarfs/h5backend"
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

// step is one global step of this node: its batch files and how they are made.
type step struct {
	g      int
	files  [][]*batchFile      // [local rank][field]
	reads  []h5backend.Request // the loads, then the riders
	loadOf []*batchFile        // the file that reads[i] fills, if it is a load
	riders []rider
	riding int // riders that are planned; some may have found no room
	hits   []placed
	leaves []uint32      // samples that leave the buffer after the step
	enters []placed      // samples that enter it from the batch files
	read   chan struct{} // closed when all has been read, or has failed
	over   func()        // called when the buffer is what it is after the step
}

// placed is a sample and where it stands: row of a local rank's batch.
type placed struct {
	sample uint32
	rank   int
	row    int
}

// parts are the sample's bytes in the batch files, one part for each field.
func (s *step) parts(p placed) [][]byte {
	parts := make([][]byte, len(s.files[p.rank]))
	for field, f := range s.files[p.rank] {
		parts[field] = f.row(p.row)
	}
	return parts
}

// plan fills in how the step's batches are made, from what the plan says of them.
// held tells which samples will be in the buffer when the step is committed,
// and is brought up to date for the step after it, but for riders. A planned hit
// that is not held (a load failed, a rider found no room, or the mount began in
// mid-plan) becomes a load.
func (s *step) plan(ep *planner.Epoch, stepInEpoch, node int, held *sampleSet) {
	for local := range s.files {
		samples, fates := ep.Batch(stepInEpoch, node*len(s.files)+local)
		for row, sample := range samples {
			p := placed{sample, local, row}
			load := fates[row]&planner.Load != 0
			keep := fates[row]&planner.Keep != 0
			if !load && held.has(sample) {
				s.hits = append(s.hits, p)
				if !keep {
					s.leaves = append(s.leaves, sample)
				}
				continue
			}
			s.addLoad(p)
			if keep {
				s.enters = append(s.enters, p)
			}
		}
	}
	s.leaves = append(s.leaves, ep.Drops(stepInEpoch, node)...)
	for _, sample := range s.leaves {
		held.remove(sample)
	}
	for _, p := range s.enters {
		held.add(p.sample)
	}
}

func (s *step) addLoad(p placed) {
	for field, f := range s.files[p.rank] {
		s.reads = append(s.reads, h5backend.Request{Field: field, Sample: p.sample, Dst: f.row(p.row)})
		s.loadOf = append(s.loadOf, f)
	}
}

// loaded is how many samples came from storage.
func (s *step) loaded() int {
	good, fields := 0, len(s.files[0])
	for _, r := range s.reads {
		if r.Err == nil {
			good++
		}
	}
	return good / fields
}

// done lets go of the lists: the files wait for their readers, the lists need not.
func (s *step) done() {
	s.reads, s.loadOf, s.riders, s.hits, s.leaves, s.enters = nil, nil, nil, nil, nil, nil
	s.over()
}

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
