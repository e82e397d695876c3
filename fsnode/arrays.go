package fsnode

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/hanwen/go-fuse/v2/fuse"

	"solarfs/batchfile"
	"solarfs/planner"
)

// samplesLayout is samples.npy: int64 (steps, batch-size), or wider where a batch
// may be larger.
func samplesLayout(spec planner.Spec) batchfile.Layout {
	columns := max(spec.BatchSize, spec.MaxRows())
	return batchfile.Npy("<i8", []int{columns}, 8*columns, spec.Steps())
}

// weightsLayout is weights.npy: float64 (steps,).
func weightsLayout(spec planner.Spec) batchfile.Layout {
	return batchfile.Npy("<f8", nil, 8, spec.Steps())
}

// samplesFile makes samples.npy of one rank as it is read: which sample stands
// in which row of a batch, -1 behind a short one's end.
type samplesFile struct {
	spec  planner.Spec
	epoch *planner.Epoch
	rank  int
}

func (s *samplesFile) read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, error) {
	return readRows(samplesLayout(s.spec), buf, off, func(row []byte, step int) {
		samples, _ := s.epoch.Batch(step, s.rank)
		for i := range len(row) / 8 {
			id := int64(-1)
			if i < len(samples) {
				id = int64(samples[i])
			}
			binary.LittleEndian.PutUint64(row[8*i:], uint64(id))
		}
	})
}

func (*samplesFile) close() {}

// weightsFile makes weights.npy as it is read: what a rank's mean counts in the
// step's gradient, n_rank x ranks / n_global; one where batches are equal.
type weightsFile struct {
	spec  planner.Spec
	epoch *planner.Epoch // nil: batches are equal
	rank  int
}

func (w *weightsFile) read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, error) {
	return readRows(weightsLayout(w.spec), buf, off, func(row []byte, step int) {
		weight := 1.
		if w.epoch != nil {
			weight = w.epoch.Weight(step, w.rank)
		}
		binary.LittleEndian.PutUint64(row, math.Float64bits(weight))
	})
}

func (*weightsFile) close() {}

// readRows fills buf with the bytes from off on of a file whose rows are made
// when they are wanted.
func readRows(l batchfile.Layout, buf []byte, off int64, fill func(row []byte, i int)) (fuse.ReadResult, error) {
	header, parts := l.Cut(off, len(buf))
	n := copy(buf, header)
	row := make([]byte, l.RowBytes)
	for _, p := range parts {
		fill(row, p.Row)
		n += copy(buf[n:], row[p.From:p.To])
	}
	return fuse.ReadResultData(buf[:n]), nil
}
