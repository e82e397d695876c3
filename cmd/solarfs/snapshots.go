package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"

	"solarfs/internal/snapshot"
	"solarfs/planner"
)

// snapshotDoc says where in a plan file stands who holds what before an epoch.
type snapshotDoc struct {
	Epoch  int   `json:"epoch"`
	Offset int64 `json:"offset"` // from the end of the JSON document
	Bytes  int64 `json:"bytes"`
}

// spacing says how far apart snapshots are.
type spacing struct {
	replay int     // samples that may be planned on the way from one to the epoch before a wanted one
	bytes  float64 // that all may take together
}

// resumeRule has a jump replay ten million samples at most, a second or two, beside the epoch that is wanted.
var resumeRule = spacing{replay: 10_000_000, bytes: 512 << 20}

// every is the number of epochs between two snapshots; 0: none are needed.
func (r spacing) every(spec planner.Spec) int {
	if spec.Samples <= r.replay/spec.Epochs {
		return 0
	}
	bits := math.Log2(float64(spec.Nodes) + 1)
	all := bits / 8 * float64(spec.Samples) * float64(spec.Epochs)
	return max(1, r.replay/spec.Samples, int(math.Ceil(all/r.bytes)))
}

// snapshots are gathered while a job is planned.
type snapshots struct {
	every int
	docs  []snapshotDoc
	data  []byte
	err   error
}

// take takes one if it is due before the schedule's next epoch, and its strategy can be resumed.
func (s *snapshots) take(spec planner.Spec, next *planner.Schedule) {
	epoch := next.Epoch()
	if s.every == 0 || epoch%s.every != 0 || epoch == spec.Epochs || s.err != nil {
		return
	}
	owners := next.Owners()
	if owners == nil {
		return
	}
	text, err := snapshot.Encode(owners, spec.Nodes)
	if err != nil {
		s.err = fmt.Errorf("write down who holds what before epoch %d: %w", epoch, err)
		return
	}
	s.docs = append(s.docs, snapshotDoc{Epoch: epoch, Offset: int64(len(s.data)), Bytes: int64(len(text))})
	s.data = append(s.data, text...)
}

// resume returns a schedule from the last snapshot before or at an epoch; nil if there is none. file is the plan file and base where its
// document ends.
func (d *planDoc) resume(file io.ReaderAt, base int64, epoch int) (*planner.Schedule, error) {
	var best *snapshotDoc
	for i, s := range d.Snapshots {
		if s.Epoch <= epoch && (best == nil || s.Epoch > best.Epoch) {
			best = &d.Snapshots[i]
		}
	}
	if best == nil {
		return nil, nil
	}
	if best.Offset < 0 || best.Bytes < 0 || best.Bytes > int64(4*d.Spec.Samples+1<<20) {
		return nil, errors.New("its place cannot be right")
	}
	text := make([]byte, best.Bytes)
	if _, err := file.ReadAt(text, base+best.Offset); err != nil {
		return nil, err
	}
	owners, err := snapshot.Decode(text, d.Spec.Samples, d.Spec.Nodes)
	if err != nil {
		return nil, err
	}
	return planner.Resume(d.Spec, best.Epoch, owners)
}

// resumer is what a mount asks for a schedule. A snapshot that cannot be used costs time and nothing else: the plan is made from its
// start then, and digests are compared in any case. Where there is none, the first to ask gets the schedule that usable has begun.
func (j *job) resumer(log *slog.Logger) func(epoch int) *planner.Schedule {
	return func(epoch int) *planner.Schedule {
		s, err := j.plan.resume(j.file, j.base, epoch)
		if err != nil {
			log.Warn("a snapshot in the plan file is damaged; the plan is made from its start", "epoch", epoch, "err", err)
		}
		if s == nil {
			s = j.begun.Swap(nil)
		}
		return s
	}
}
