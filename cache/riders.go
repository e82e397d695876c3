package cache

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"solarfs/h5backend"
	"solarfs/planner"
)

// Riders that are being read take one of riderShare parts of the window at most,
// and slots for riderSteps steps' loads. Plans of 4 to 64 samples a chunk and
// buffers of a tenth to nine tenths of the set have up to 4 steps' loads more
// riders in a step than the buffer before it has room for.
const (
	riderShare = 4
	riderSteps = 8
)

// riderSlots is how many slots the buffer has beyond its samples, for riders
// between their read and their step's commit, as far as the window has memory
// beside one step's files.
func riderSlots(cfg Config) int {
	spec, slot := cfg.Spec, int64(0)
	if spec.Chunk < 2 || cmp.Or(spec.Strategy, planner.Balanced) != planner.Balanced { // no other strategy has riders
		return 0
	}
	for _, f := range cfg.Fields {
		slot += int64(f.Bytes)
	}
	room := min(cfg.Memory.Window/riderShare, cfg.Memory.Window-StepBytes(spec, cfg.Fields)) / slot
	return int(min(room, int64(spec.RanksPerNode)*int64(spec.MaxRows())*riderSteps))
}

// rider is a sample that is read together with a step's loads, straight into its
// slot of the buffer, where nobody finds it before the commit.
type rider struct{ sample, slot uint32 }

// addRiders takes slots for the planned riders. Those that find none are left
// out; their hits become loads.
func (c *Cache) addRiders(ctx context.Context, s *step, planned []uint32, room *riderRoom, held *sampleSet) error {
	n, err := room.grant(ctx, len(planned))
	if err != nil {
		return err
	}
	s.riding = len(planned)
	for _, sample := range planned[:n] {
		r := rider{sample, c.buffer.take()}
		s.riders = append(s.riders, r)
		for field := range c.cfg.Fields {
			s.reads = append(s.reads, h5backend.Request{Field: field, Sample: sample, Dst: c.buffer.part(r.slot, field)})
		}
		held.add(sample)
	}
	room.begin(held.n, n)
	s.over = room.end
	return nil
}

// admitRiders lets the riders of a step that have been read be found, and
// returns how many they are.
func (c *Cache) admitRiders(s *step) (n int) {
	fields := len(c.cfg.Fields)
	var err error // one line for a step is enough
	for i, r := range s.riders {
		reads := s.reads[len(s.loadOf)+i*fields:][:fields]
		bad := slices.IndexFunc(reads, func(r h5backend.Request) bool { return r.Err != nil })
		if bad < 0 {
			c.buffer.admit(r)
			n++
			continue
		}
		c.buffer.giveBack(r.slot)
		err = cmp.Or(err, reads[bad].Err)
	}
	if err != nil {
		c.failed(err)
		c.log.Error("a sample that is kept for later could not be read; it is read again when it is needed",
			"epoch", s.g/c.stepsPerEpoch, "step", s.g%c.stepsPerEpoch, "err", err)
	}
	return n
}

// riderRoom tells how many riders may take slots of the buffer before their
// step's commit, so that the commits before it still find room for what they
// keep.
//
// mu guards all. Invariant: for each step that is begun and not ended, what is
// held after it and the riders of all later ones are slots at most.
type riderRoom struct {
	slots int
	mu    struct {
		sync.Mutex
		begun   []begunStep // oldest first
		held    int         // after the last step that has ended
		changed chan struct{}
	}
}

// begunStep is how many samples are held after a step, and how many riders it has.
type begunStep struct{ held, riders int }

func newRiderRoom(slots, held int) *riderRoom {
	r := &riderRoom{slots: slots}
	r.mu.held, r.mu.changed = held, make(chan struct{})
	return r
}

// grant returns how many of n riders the next step may have. It waits for steps
// to end as long as that brings more.
func (r *riderRoom) grant(ctx context.Context, n int) (int, error) {
	for n > 0 {
		r.mu.Lock()
		most, riders := r.mu.held, 0
		for _, s := range r.mu.begun {
			most, riders = max(most, s.held), riders+s.riders
		}
		room, last, changed := r.slots-most-riders, len(r.mu.begun) == 0, r.mu.changed
		r.mu.Unlock()
		if room >= n || last {
			return max(0, min(n, room)), nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
	return 0, nil
}

// begin notes the next step.
func (r *riderRoom) begin(held, riders int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.begun = append(r.mu.begun, begunStep{held, riders})
}

// end notes that the oldest step is committed.
func (r *riderRoom) end() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.held = r.mu.begun[0].held
	r.mu.begun = r.mu.begun[1:]
	close(r.mu.changed)
	r.mu.changed = make(chan struct{})
}
