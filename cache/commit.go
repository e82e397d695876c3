package cache

import (
	"context"
	"errors"

	"solarfs/h5backend"
)

// commit finishes steps in plan order: hits come out of the buffer, samples
// leave and enter it, the batch files become ready.
func (c *Cache) commit(ctx context.Context, started <-chan *step) error {
	for s := range started {
		<-s.read // ends early when ctx does
		if ctx.Err() != nil {
			continue // restart takes the step back
		}
		bad := c.failedLoads(s)
		c.copyHits(ctx, s, bad)
		for _, sample := range s.leaves {
			c.buffer.leave(sample)
		}
		for _, p := range s.enters {
			if c.mayEnter(s, p, bad) && !c.buffer.enter(p.sample, s.parts(p)) {
				c.log.Error("the buffer is fuller than the plan says; a sample is not kept", "sample", p.sample)
			}
		}
		riders := c.admitRiders(s)
		c.stats.committed(s.g/c.stepsPerEpoch, EpochStatus{
			Hits: int64(len(s.hits)), Loads: int64(s.loaded()), Riders: int64(riders), RidersMissed: int64(s.riding - riders),
		})
		s.done()
		c.window.made(s, bad)
	}
	return ctx.Err()
}

// failedLoads logs what could not be read and returns the files that lack it.
func (c *Cache) failedLoads(s *step) map[*batchFile]bool {
	bad := map[*batchFile]bool{}
	c.noteFailures(s, s.reads[:len(s.loadOf)], s.loadOf, bad)
	return bad
}

func (c *Cache) noteFailures(s *step, reads []h5backend.Request, of []*batchFile, bad map[*batchFile]bool) {
	for i, r := range reads {
		if r.Err != nil && !bad[of[i]] { // one line for a batch is enough
			bad[of[i]] = true
			c.failed(r.Err)
			c.log.Error("a batch could not be made ahead; it is tried again when it is read",
				"epoch", s.g/c.stepsPerEpoch, "step", s.g%c.stepsPerEpoch, "err", r.Err)
		}
	}
}

// copyHits copies the step's hits from the buffer into its batch files. A hit
// that is missing (an earlier load failed) is read now.
func (c *Cache) copyHits(ctx context.Context, s *step, bad map[*batchFile]bool) {
	var missing []h5backend.Request
	var missingOf []*batchFile
	for _, p := range s.hits {
		for field, f := range s.files[p.rank] {
			if dst := f.row(p.row); !c.buffer.copyOut(dst, p.sample, field, 0) {
				missing = append(missing, h5backend.Request{Field: field, Sample: p.sample, Dst: dst})
				missingOf = append(missingOf, f)
			}
		}
	}
	if len(missing) == 0 {
		return
	}
	c.cfg.Now.Read(ctx, missing)
	c.noteFailures(s, missing, missingOf, bad)
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

// mayEnter refuses a sample one of whose files could not be filled: its bytes
// may be the ones that are missing.
func (c *Cache) mayEnter(s *step, p placed, bad map[*batchFile]bool) bool {
	for _, f := range s.files[p.rank] {
		if bad[f] {
			return false
		}
	}
	return true
}
