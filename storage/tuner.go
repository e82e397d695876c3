package storage

import "math"

// Block is what a reader read in one go while it was saturated: it had always more to ask for than its depth allowed.
type Block struct {
	Demand  // what lay in gaps included
	Seconds float64
}

// Setting is how a reader reads.
type Setting struct {
	Gap   int64 // bytes: gaps up to this are read over
	Depth int   // requests under way at once
}

// Differs tells whether what was sent with another setting says nothing of this one, but for small changes of the gap.
func (s Setting) Differs(o Setting) bool {
	return s.Depth != o.Depth || max(s.Gap, o.Gap)-min(s.Gap, o.Gap) > max(s.Gap, o.Gap)/8
}

// Tuning says what a Tuner begins with and what it may change.
type Tuning struct {
	Model                Model // what the storage gives, as far as is known
	Start                Setting
	FixedGap, FixedDepth bool
	MaxDepth             int
}

// Tuner finds the gap and the depth with which a reader gets most, from what its blocks took. It takes turns: a round of blocks tells
// whether another gap would take less time, then a few tell whether another depth would; where all is well, both rest ever longer.
type Tuner struct {
	gap   gapTuner
	depth depthTuner
	turn  bool // the depth's
}

// Speed is what the storage gives the reader at its depth.
type Speed struct {
	Rate      float64 // requests a second
	Bandwidth float64 // bytes a second
}

// NewTuner begins with the model's figures; where it has no limit, with what the first block shows.
func NewTuner(t Tuning) *Tuner {
	return &Tuner{
		gap:   newGapTuner(t.Start.Gap, t.FixedGap, Speed{t.Model.Rate(), limit(t.Model.Bandwidth)}),
		depth: newDepthTuner(t.Start.Depth, t.MaxDepth, t.FixedDepth),
	}
}

// Setting is how the next block is to be read.
func (t *Tuner) Setting() Setting {
	if t.turn {
		return Setting{int64(t.gap.gap), t.depth.now()}
	}
	return Setting{t.gap.now(), t.depth.now()}
}

// Speed is what has been learnt of the storage.
func (t *Tuner) Speed() Speed { return t.gap.speed }

// Observe takes a block that was read with the present Setting.
func (t *Tuner) Observe(b Block) {
	if m := b.Requests * b.Bytes * b.Seconds; !(min(b.Requests, b.Bytes, b.Seconds) > 0) || math.IsInf(m, 1) {
		return
	}
	if t.turn {
		t.turn = !t.depth.observe(math.Exp(b.pace(t.gap.share)))
		return
	}
	if t.gap.observe(b) {
		t.turn = t.depth.due()
	}
}

// Spare takes note of a block whose time went with other things than the storage, such as decoding: over gaps it then reads for nothing.
func (t *Tuner) Spare() {
	if !t.turn {
		t.gap.narrow()
	}
}

// pace is the logarithm of how much is done in a second: of requests and bytes, by the share of the time that each of them decides.
func (b Block) pace(requests float64) float64 {
	return requests*math.Log(b.Requests/b.Seconds) + (1-requests)*math.Log(b.Bytes/b.Seconds)
}

func (b Block) speed() Speed { return Speed{b.Requests / b.Seconds, b.Bytes / b.Seconds} }

// raise moves s by part of the way to what was seen, where that is more.
func (s *Speed) raise(seen Speed, part float64) {
	s.Rate += part * max(seen.Rate-s.Rate, 0)
	s.Bandwidth += part * max(seen.Bandwidth-s.Bandwidth, 0)
}

// learn takes what blocks showed in the mean and at the most. share is the requests' part of their time: where it is nearly all, their mean rate
// is what the storage gives; where requests decided some of the blocks, the most of them; the same of bytes.
func (s *Speed) learn(mean, most Speed, share float64) {
	s.Rate = learnt(s.Rate, mean.Rate, most.Rate, share)
	s.Bandwidth = learnt(s.Bandwidth, mean.Bandwidth, most.Bandwidth, 1-share)
}

// learnt moves halfway, from at most a quarter above. What decided little of the time is only known to be no less than was seen.
func learnt(known, mean, most, share float64) float64 {
	const nearlyAll = .75
	switch {
	case math.IsInf(known, 1):
		return most
	case share > nearlyAll:
		return (min(known, 1.25*mean) + mean) / 2
	case share > 1-nearlyAll:
		return (min(known, 1.25*most) + most) / 2
	}
	return max(known, most)
}
