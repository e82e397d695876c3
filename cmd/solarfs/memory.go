package main

import (
	"fmt"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/h5backend"
	"solarfs/planner"
	"solarfs/storage"
)

// Depths of the two readers: how many reads each keeps under way. Ahead, more may be, where storage gains by it and their scratch is at most
// the scratchPart-th of the memory.
const (
	aheadDepth  = 16
	nowDepth    = 8
	scratchPart = 16
)

// scratchBytes is what is set aside for the readers' scratch. It grows with the limit without a jump, so that what fits in one fits in any
// larger one.
func scratchBytes(limit int64, set *h5backend.Set) int64 {
	return min(max(limit/scratchPart, set.ScratchBytes(aheadDepth+nowDepth)), set.ScratchBytes(storage.MaxDepth+nowDepth))
}

// largestDepth is how many reads ahead may ever be under way.
func largestDepth(limit int64, set *h5backend.Set) int {
	depth, bytes := storage.MaxDepth, scratchBytes(limit, set)
	for depth > aheadDepth && set.ScratchBytes(depth+nowDepth) > bytes {
		depth--
	}
	return depth
}

// runtimeBytes is what the program itself needs beyond --memory: Go's runtime
// and the buffers of kernel requests.
const runtimeBytes = 20 << 20

// maxSize is the largest size that makes sense; sums of a few do not overflow.
const maxSize = 1 << 60

// split is how one node's memory is divided, in bytes.
type split struct {
	Limit  int64 `json:"limit"`
	Buffer int64 `json:"buffer"`
	Window int64 `json:"window"`
	Stray  int64 `json:"stray"`
}

// splitFromFlags divides --memory: what a mount needs besides, and the rest by
// predicted time between window and buffer. --buffer and --window fix their
// part, and the other one gets what is left.
func splitFromFlags(c *cli.Context, spec planner.Spec, set *h5backend.Set, speed speedDoc) (split, error) {
	if int64(spec.BatchSize)*int64(spec.RanksPerNode) > maxSize/sampleBytes(set) {
		return split{}, wrongUse("a batch of every rank is more than %s; give a smaller --batch-size", bytesText(maxSize))
	}
	s, err := sizes(c)
	if err != nil {
		return s, err
	}
	s = s.capped(spec, set)
	s.Stray = strayBytes(set)
	if s.Limit < 0 {
		s.Limit = available() / 2
		if s.Buffer >= 0 && s.Window >= 0 {
			s.Limit = 0
			_, s.Limit = s.least(spec, set, 0)
		}
	}
	return s.divide(spec, set, speed)
}

// sizes reads --memory, --buffer and --window; -1 where one is not given.
func sizes(c *cli.Context) (s split, err error) {
	if s.Limit, err = size(c, "memory"); err != nil {
		return s, err
	}
	if s.Buffer, err = size(c, "buffer"); err != nil {
		return s, err
	}
	s.Window, err = size(c, "window")
	return s, err
}

// capped takes from the fixed parts what no job of this size can use.
func (s split) capped(spec planner.Spec, set *h5backend.Set) split {
	s.Buffer = min(s.Buffer, int64(spec.Samples)*sampleBytes(set))
	job := float64(cache.StepBytes(spec, set.Fields())) * float64(spec.Steps()) * float64(spec.Epochs)
	if float64(s.Window) > job {
		s.Window = int64(job)
	}
	return s
}

// divide fills in the parts that are not fixed (below zero). Where both are, it
// does not ask what storage gives.
func (s split) divide(spec planner.Spec, set *h5backend.Set, speed speedDoc) (split, error) {
	asked := s
	step := cache.StepBytes(spec, set.Fields())
	free := s.Limit - s.besides(spec, set)
	if s.Window < 0 {
		switch {
		case s.Buffer >= 0:
			s.Window = free - s.Buffer
		case spec.Chunk > 1:
			s.Window = chunkWindow(spec, step, free)
		case free >= step:
			s.Window = storage.Divide(speed.modelFor(spec), storageJob(spec, set), room(free, spec, set)).Window
		}
		// More than an epoch ahead helps nobody.
		s.Window = max(min(s.Window, int64(spec.Steps())*step), min(step, free))
	}
	if s.Buffer < 0 {
		s.Buffer = min(max(free-s.Window, 0)/(sampleBytes(set)+slotBytes), int64(spec.Samples)) * sampleBytes(set)
		free -= slotBytes * s.Buffer / sampleBytes(set)
	}
	if s.Window < step || s.Buffer+s.Window > free {
		return s, asked.tooLarge(spec, set, step)
	}
	return s, nil
}

// chunkWindow is the window where chunks hold several samples. What the plan reads ahead goes into the buffer, by chunks; the window need
// hold steps with all the samples that come with theirs, and no more.
func chunkWindow(spec planner.Spec, step, free int64) int64 {
	return min(max(2*step, min(int64(spec.Chunk+2)*step, free/4)), max(step, free))
}

// besides is what is needed beside buffer and window: for the largest buffer that the limit allows, if none is given.
func (s split) besides(spec planner.Spec, set *h5backend.Set) int64 {
	largest := s.Buffer
	if s.Buffer < 0 {
		largest = max(s.Limit, 0)
	}
	spec.BufferSamples = bufferSamples(split{Buffer: largest}, spec, set)
	return s.Stray + s.overhead(spec, set)
}

// least is the smallest limit that would do, and what of it is neither buffer nor window. A larger limit allows a larger buffer and more reads
// at once, which take more besides, so it is approached from below.
func (s split) least(spec planner.Spec, set *h5backend.Set, step int64) (besides, limit int64) {
	for {
		besides = s.besides(spec, set)
		limit = besides + max(s.Buffer, 0) + max(s.Window, step)
		if limit <= s.Limit {
			return besides, s.Limit
		}
		s.Limit = limit
	}
}

// tooLarge says which part does not fit, and what would. s is what the user
// asked for, step the least window, besides what neither buffer nor window is.
func (s split) tooLarge(spec planner.Spec, set *h5backend.Set, step int64) error {
	if s.Window >= 0 && s.Window < step {
		return wrongUse("--window %s is less than a batch of every rank; give at least --window %s, or a smaller --batch-size", bytesText(s.Window), leastText(step))
	}
	besides, least := s.least(spec, set, step)
	parts := fmt.Sprintf("--window %s", bytesText(s.Window))
	switch {
	case besides+step > s.Limit:
		parts = fmt.Sprintf("a batch of every rank (%s)", bytesText(step))
	case s.Buffer >= 0 && s.Window >= 0:
		parts = fmt.Sprintf("--buffer %s with --window %s", bytesText(s.Buffer), bytesText(s.Window))
	case s.Buffer >= 0:
		parts = fmt.Sprintf("--buffer %s with a batch of every rank (%s)", bytesText(s.Buffer), bytesText(step))
	}
	return wrongUse("%s and what a mount needs besides (%s) are more than the memory of %s; give less, or at least --memory %s",
		parts, bytesText(besides), bytesText(s.Limit), leastText(least))
}

// leastText is a size in bytes and, for people, rounded up.
func leastText(n int64) string { return fmt.Sprintf("%dB (%d MiB)", n, (n+1<<20-1)>>20) }

// bufferSamples is how many samples a node's buffer holds.
func bufferSamples(s split, spec planner.Spec, set *h5backend.Set) int {
	return int(min(s.Buffer/sampleBytes(set), int64(spec.Samples)))
}

// strayBytes is the memory for what no plan covers: two samples at the least,
// 16 MiB where samples are small.
func strayBytes(set *h5backend.Set) int64 { return max(16<<20, 4*sampleBytes(set)) }

// slotBytes is what the table of kept samples takes for each.
const slotBytes = 24

// overhead is what a mount needs besides samples: the plans of the epochs being
// read and made, the table of kept samples, the chunks' addresses, and the readers' scratch.
func (s split) overhead(spec planner.Spec, set *h5backend.Set) int64 {
	return planBytes(spec) + slotBytes*max(s.Buffer, 0)/sampleBytes(set) + set.IndexBytes() + scratchBytes(s.Limit, set)
}

// planBytes is what planning takes: the read-ahead's schedule, another for who asks for an epoch far away, the parts of five epochs, and
// a snapshot of who holds what while it is read.
func planBytes(spec planner.Spec) int64 {
	const snapshotBytesPerSample = 4
	return 2*spec.PlanBytes() + 5*spec.NodeBytes() + snapshotBytesPerSample*int64(spec.Samples)
}

// available is the memory that this process may use: the cgroup's limit, or
// the machine's.
func available() int64 {
	for _, ask := range []func() (uint64, error){memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := ask(); err == nil && n > 0 && n < maxSize {
			return int64(n)
		}
	}
	return 1 << 30
}

// size parses a flag such as 4GiB; -1 if it is not given.
func size(c *cli.Context, flag string) (int64, error) {
	if !c.IsSet(flag) {
		return -1, nil
	}
	return parseSize(flag, c.String(flag))
}

func parseSize(flag, text string) (int64, error) {
	n, err := humanize.ParseBytes(text)
	if err != nil || n > maxSize {
		return 0, wrongUse("--%s %q is no size; write it as 64MiB, 4GiB or 500MB", flag, text)
	}
	return int64(n), nil
}

func (s split) String() string {
	return fmt.Sprintf("%s, of it %s for kept samples, %s for the window", bytesText(s.Limit), bytesText(s.Buffer), bytesText(s.Window))
}
