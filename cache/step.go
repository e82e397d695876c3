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
	files  [][]*batchFile // [local rank][field]
	loads  []h5backend.Request
	loadOf []*batchFile // the file that loads[i] fills
	hits   []placed
	leaves []uint32      // samples that leave the buffer after the step
	enters []placed      // samples that enter it
	read   chan struct{} // closed when the loads have been read, or have failed
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

// plan fills in how the step is made, from what the plan says of its batches.
// held tells which samples will be in the buffer when the step is committed,
// and is brought up to date for the step after it. A planned hit that is not
// held (a load failed, or the mount began in mid-plan) becomes a load.
func (s *step) plan(ep *planner.Epoch, stepInEpoch, node, ranksPerNode int, held bitset) {
	for local := range ranksPerNode {
		samples, fates := ep.Batch(stepInEpoch, node*ranksPerNode+local)
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
		held.clear(sample)
	}
	for _, p := range s.enters {
		held.set(p.sample)
	}
}

func (s *step) addLoad(p placed) {
	for field, f := range s.files[p.rank] {
		s.loads = append(s.loads, h5backend.Request{Field: field, Sample: p.sample, Dst: f.row(p.row)})
		s.loadOf = append(s.loadOf, f)
	}
}

// loaded is how many samples came from storage.
func (s *step) loaded() int {
	good, fields := 0, len(s.files[0])
	for _, r := range s.loads {
		if r.Err == nil {
			good++
		}
	}
	return good / fields
}

// bitset is a set of samples.
type bitset []uint64

func newBitset(samples int) bitset      { return make(bitset, (samples+63)/64) }
func (b bitset) has(sample uint32) bool { return b[sample/64]&(1<<(sample%64)) != 0 }
func (b bitset) set(sample uint32)      { b[sample/64] |= 1 << (sample % 64) }
func (b bitset) clear(sample uint32)    { b[sample/64] &^= 1 << (sample % 64) }

func (s *step) over() bool {
	for _, files := range s.files {
		for _, f := range files {
			if f.state != gone {
				return false
			}
		}
	}
	return true
}
