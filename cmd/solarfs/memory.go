package main

import (
	"fmt"

	"github.com/KimMachineGun/automemlimit/memlimit"
	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/h5backend"
	"solarfs/planner"
)

// Depths of the two readers: how many reads each keeps under way.
const (
	aheadDepth = 16
	nowDepth   = 8
)

// runtimeBytes is what the program itself needs beyond --memory: Go's runtime
// and the buffers of kernel requests.
const runtimeBytes = 40 << 20

// split is how one node's memory is divided, in bytes.
type split struct {
	Limit  int64 `json:"limit"`
	Buffer int64 `json:"buffer"`
	Window int64 `json:"window"`
	Stray  int64 `json:"stray"`
}

// splitFromFlags divides --memory: what a mount needs besides, then the window,
// and the buffer gets the rest. --buffer and --window fix their part.
func splitFromFlags(c *cli.Context, spec planner.Spec, set *h5backend.Set) (split, error) {
	var s split
	for flag, to := range map[string]*int64{"memory": &s.Limit, "buffer": &s.Buffer, "window": &s.Window} {
		n, err := size(c, flag)
		if err != nil {
			return s, err
		}
		*to = n
	}
	if s.Limit < 0 {
		s.Limit = available() / 2
		if s.Buffer >= 0 && s.Window >= 0 {
			s.Limit = s.Buffer + s.Window + strayBytes(set) + overhead(spec, set)
		}
	}
	s.Stray = strayBytes(set)
	return s.divide(spec, set)
}

// divide fills in the parts that are not fixed (below zero).
func (s split) divide(spec planner.Spec, set *h5backend.Set) (split, error) {
	step := cache.StepBytes(spec, set.Fields())
	free := s.Limit - s.Stray - overhead(spec, set)
	if s.Window < 0 {
		// More than an epoch ahead helps nobody.
		s.Window = min(max(free/4, 2*step), int64(spec.Steps())*step)
		if s.Buffer >= 0 {
			s.Window = min(free-s.Buffer, int64(spec.Steps())*step)
		}
		s.Window = max(s.Window, min(step, free))
	}
	if s.Buffer < 0 {
		s.Buffer = min(max(free-s.Window, 0), int64(spec.Samples)*sampleBytes(set))
	}
	if s.Window < step || s.Buffer+s.Window > free {
		least := max(s.Buffer, 0) + max(s.Window, step) + s.Stray + overhead(spec, set)
		return s, wrongUse("memory of %s is too small: a batch of every rank is %s, and this job needs at least --memory %dB (or a smaller --batch-size, --buffer or --window)",
			humanize.IBytes(uint64(s.Limit)), humanize.IBytes(uint64(step)), least)
	}
	return s, nil
}

// bufferSamples is how many samples a node's buffer holds.
func bufferSamples(s split, spec planner.Spec, set *h5backend.Set) int {
	return int(min(s.Buffer/sampleBytes(set), int64(spec.Samples)))
}

// strayBytes is the memory for what no plan covers: two samples at the least,
// 16 MiB where samples are small.
func strayBytes(set *h5backend.Set) int64 { return max(16<<20, 4*sampleBytes(set)) }

// overhead is what a mount needs besides samples: the plans of the epochs being
// read and made, the chunks' addresses, and the readers' scratch.
func overhead(spec planner.Spec, set *h5backend.Set) int64 {
	const planBytesPerSample = 40
	return planBytesPerSample*int64(spec.Samples) + set.IndexBytes() + set.ScratchBytes(aheadDepth+nowDepth)
}

// available is the memory that this process may use: the cgroup's limit, or
// the machine's.
func available() int64 {
	for _, ask := range []func() (uint64, error){memlimit.FromCgroup, memlimit.FromSystem} {
		if n, err := ask(); err == nil && n > 0 && n < 1<<60 {
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
	n, err := humanize.ParseBytes(c.String(flag))
	if err != nil || n > 1<<60 {
		return 0, wrongUse("--%s %q is no size; write it as 64MiB, 4GiB or 500MB", flag, c.String(flag))
	}
	return int64(n), nil
}

func (s split) String() string {
	return fmt.Sprintf("%s kept samples, %s window", humanize.IBytes(uint64(s.Buffer)), humanize.IBytes(uint64(s.Window)))
}
