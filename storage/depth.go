package storage

// depths are those that are tried: each is a quarter to a half more than the one before.
var depths = []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64}

// MaxDepth is the largest depth that is of use.
const MaxDepth = 64

// depthTuner climbs to the least depth beyond which the pace does not grow.
type depthTuner struct {
	at, most int // index into depths; own where the depth is fixed
	fixed    int // 0: not

	trial  int // -1, 0 or 1: the depth below, this one or the one above is being read with
	climbs bool
	blocks int
	sum    float64 // of the paces of the trial
	here   float64 // pace of depths[at]
	best   float64 // of all in this search

	rest, pause int // rounds of the gap until the next search
}

const (
	trialBlocks = 3
	worthMore   = 1.04 // so much faster must the next depth be
	worthLess   = .98  // so fast must the depth before still be
	longestWait = 32
)

func newDepthTuner(depth, most int, fixed bool) depthTuner {
	d := depthTuner{pause: 2}
	if fixed {
		d.fixed = depth
		return d
	}
	for i, n := range depths {
		if n <= max(most, 1) {
			d.most = i
		}
		if n <= min(depth, most) {
			d.at = i
		}
	}
	return d
}

func (d *depthTuner) now() int {
	if d.fixed > 0 {
		return d.fixed
	}
	return depths[d.at+d.trial]
}

// due says whether a search is to begin, at the end of a round or rest of the gap.
func (d *depthTuner) due() bool {
	if d.fixed > 0 {
		return false
	}
	d.rest--
	return d.rest < 0
}

// observe says whether the search is over.
func (d *depthTuner) observe(pace float64) (over bool) {
	d.sum += pace
	if d.blocks++; d.blocks < trialBlocks {
		return false
	}
	pace = d.sum / trialBlocks
	d.sum, d.blocks = 0, 0
	d.best = max(d.best, pace)
	switch {
	case d.trial == 0:
		d.here, d.trial = pace, 1
	case d.trial == 1 && pace >= worthMore*d.here:
		d.at, d.here, d.climbs = d.at+1, pace, true
	case d.trial == 1 && !d.climbs:
		d.trial = -1
	case d.trial == -1 && pace >= worthLess*d.best:
		d.at, d.here = d.at-1, pace
	default:
		return d.end()
	}
	if d.trial == 1 && d.at == d.most {
		d.trial = -1
		if d.climbs {
			return d.end()
		}
	}
	if d.trial == -1 && d.at == 0 {
		return d.end()
	}
	return false
}

// end lets the depth be until the pause is over, which grows.
func (d *depthTuner) end() bool {
	d.trial, d.climbs, d.best = 0, false, 0
	d.rest = d.pause
	d.pause = min(2*d.pause, longestWait)
	return true
}
