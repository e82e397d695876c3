package storage

import "math"

// Room is one node's memory that kept samples and window share.
type Room struct {
	Bytes     int64
	KeptBytes int64 // of one kept sample
	StepBytes int64 // of one step's batch files
}

// Split is a division of a Room.
type Split struct {
	Window int64 // bytes
	Kept   int   // samples that one node keeps
	Prediction
}

// The window has room for the steps that a loader's workers have open at once (eight of PyTorch's, with its prefetch_factor of 2), as long
// as that is a small part of all; else for one that is being read, one that is ready, one that is being made, and for several
// times the loads that may be under way at once, so that the storage never waits for a batch to be read, as long as that is no large part; at
// the least for two steps, and for what is under way.
const (
	openSteps, openPart     = 16, 20
	steadySteps, steadyPart = 3, 5
	steadyLoads             = 4 // times the storage's depth
)

// even is the ratio up to which two predictions count as equal: with figures measured in half a second they are not more exact.
const even = 1.05

// Divide finds the window with which the job takes least time, its first epoch and all others. Of all that are even it takes
// about the smallest: a load that is saved is certain, and spares a store that others use, too. The least window
// is the one above; the largest holds an epoch. In less room than for the least the window gets all.
func Divide(m Model, j Job, r Room) Split {
	low, high := r.least(m, j), r.most(j)
	best, least := r.fastest(m, j, low, high)
	const parts = 80
	for i := range int64(parts) {
		window := part(low, high, i, parts)
		if window >= best.Window {
			break
		}
		if s, seconds := r.try(m, j, window); seconds <= even*least {
			best = s
			break
		}
	}
	// Memory that no sample is left for makes the first epoch faster.
	best.Window = max(best.Window, min(r.Bytes-int64(best.Kept)*r.KeptBytes, high))
	best.Prediction = r.predict(m, j, best)
	return best
}

// fastest tries windows from low to high in 40 even parts, then the two parts around the best in 40, and once more.
func (r Room) fastest(m Model, j Job, low, high int64) (best Split, least float64) {
	const parts = 40
	least = math.Inf(1)
	from, to := low, high
	for range 3 {
		for i := range int64(parts + 1) {
			s, seconds := r.try(m, j, part(from, to, i, parts))
			if seconds < least || seconds == least && s.Window < best.Window {
				best, least = s, seconds
			}
		}
		width := (to - from) / parts
		from, to = max(low, best.Window-width), min(high, best.Window+width)
	}
	return best, least
}

// part is from for i = 0, to for i = n, and in between evenly.
func part(from, to, i, n int64) int64 { return from + (to-from)/n*i + (to-from)%n*i/n }

func (r Room) least(m Model, j Job) int64 {
	underWay := float64(m.Depth) * r.sampleBytes(j)
	wanted := 2*r.StepBytes + int64(underWay)
	wanted = max(wanted, min(steadySteps*r.StepBytes+int64(steadyLoads*underWay), r.Bytes/steadyPart))
	wanted = max(wanted, min(openSteps*r.StepBytes, r.Bytes/openPart))
	return min(wanted, r.most(j))
}

func (r Room) most(j Job) int64 {
	return int64(min(float64(r.Bytes), j.steps()*float64(r.StepBytes)))
}

// sampleBytes is what a sample takes of the window.
func (r Room) sampleBytes(j Job) float64 { return float64(r.StepBytes) / float64(j.StepSamples) }

// try gives the split with that window, and the job's seconds.
func (r Room) try(m Model, j Job, window int64) (Split, float64) {
	s := Split{Window: window, Kept: int(min((r.Bytes-window)/r.KeptBytes, int64(j.Samples)))}
	s.Prediction = r.predict(m, j, s)
	first := First(m, j, j.kept(s.Kept), float64(window)/r.sampleBytes(j))
	return s, first.Seconds + s.Seconds*float64(j.Epochs-1)
}

func (r Room) predict(m Model, j Job, s Split) Prediction {
	return Predict(m, j, j.kept(s.Kept), float64(s.Window)/r.sampleBytes(j))
}

// kept is the part of the set that all buffers hold, each at most its node's share of the set.
func (j Job) kept(samples int) float64 {
	return min(1, float64(samples)*float64(j.Nodes)/float64(j.Samples))
}
