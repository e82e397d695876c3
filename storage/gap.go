package storage

import "math"

// gapTuner finds the best gap by trying: blocks are read with the present gap and a wider one in turn.
//
// Let n requests with b bytes take T(n, b). To read over a gap of g bytes saves one of n requests and costs g of b bytes. With
// the elasticity e of T, the part of its time that goes with the requests, and 1-e, that goes with bytes, this pays as long as
// e/n > (1-e)g/b: up to the gap (e/(1-e))·(b/n). Where requests take turns with bytes, T = n/R + b/W, this is W/R. Where the slower
// of both decides, T = max(n/R, b/W), e is 1 while requests decide and 0 while bytes do, so that the gap ends where both take
// equally long, or at 0, or at MaxGap. e is the slope of log(b/T) over log(b/n), from one block to the next, so that neither
// how the samples lie nor a storage that slowly becomes another matters.
type gapTuner struct {
	gap, step float64 // the wider one is gap+step
	fixed     bool
	share     float64 // e

	blocks        int // of this round
	all           Block
	last          Block
	cross, square float64 // sums over the differences
	top           Speed   // the most of its blocks
	grew          bool    // the last move was to a wider gap
	between       bool    // the best gap lies between the last two

	speed Speed // of the storage

	rest, pause int // blocks until the next round, and behind it
}

// A round is so many blocks; a rest at least as many, and more each time that the gap was right.
const (
	roundBlocks = 8
	longestRest = 128
)

const leastStep = 512

func newGapTuner(gap int64, fixed bool, speed Speed) gapTuner {
	return gapTuner{gap: float64(gap), step: max(float64(gap)/2, 64<<10), fixed: fixed, share: .5, pause: roundBlocks, speed: speed}
}

func (g *gapTuner) now() int64 {
	if g.rest > 0 || g.fixed || g.blocks%2 == 0 {
		return int64(g.gap)
	}
	return int64(min(g.gap+g.step, MaxGap))
}

// observe says whether a round, or a rest, is over.
func (g *gapTuner) observe(b Block) bool {
	if g.rest > 0 {
		g.balance(b.speed())
		g.rest--
		return g.rest == 0
	}
	g.top.raise(b.speed(), 1)
	if g.blocks > 0 {
		mix := math.Log(b.Bytes/b.Requests) - math.Log(g.last.Bytes/g.last.Requests)
		g.cross += mix * (math.Log(b.Bytes/b.Seconds) - math.Log(g.last.Bytes/g.last.Seconds))
		g.square += mix * mix
	}
	g.last = b
	g.all.Requests += b.Requests
	g.all.Bytes += b.Bytes
	g.all.Seconds += b.Seconds
	if g.blocks++; g.blocks < roundBlocks {
		return false
	}
	g.decide()
	g.clear()
	return true
}

// decide ends a round.
func (g *gapTuner) decide() {
	const telling = .1 // the least typical difference of log(b/n)
	if g.square < telling*telling*(roundBlocks-1) {
		g.unknown()
		return
	}
	g.share = min(max(g.cross/g.square, 0), 1)
	g.speed.learn(g.all.speed(), g.top, g.share)
	if g.fixed {
		g.relax()
		return
	}
	best := min(g.share/(1-g.share)*g.all.Bytes/g.all.Requests, MaxGap)
	switch {
	case best > g.gap+g.step/2 && g.gap < MaxGap:
		g.move(min(best, g.gap+g.step), true)
	case best < g.gap-g.step/2 || best == 0 && g.gap > 0:
		g.move(max(best, g.gap-g.step), false)
	default:
		g.step = max(g.step/2, leastStep)
		g.relax()
	}
}

// unknown ends a round whose requests were all alike. The gap does not matter then, or is so wide that each read has the most that one may
// have; a narrower one would show. With none, a wider one might. What decided the time is what the speeds so far say.
func (g *gapTuner) unknown() {
	share := 0.
	if g.all.Requests/g.speed.Rate > g.all.Bytes/g.speed.Bandwidth {
		share = 1
	}
	g.speed.learn(g.all.speed(), g.top, share)
	if g.gap > 0 && !g.fixed {
		g.gap = max(g.gap/2-leastStep, 0)
		return
	}
	g.step = min(2*g.step, MaxGap)
	g.relax()
}

// move goes on in larger steps as long as it goes on. Where it turns, the best gap lies between the last two: it rests
// there, nearer to the wider one: bytes too many cost less than requests too many.
func (g *gapTuner) move(to float64, wider bool) {
	g.between = wider != g.grew
	if !g.between {
		g.gap, g.step = to, min(2*g.step, MaxGap)
		g.pause = roundBlocks
		return
	}
	g.gap, g.grew = max(g.gap, to)-math.Abs(g.gap-to)/4, wider
	g.step = max(g.step/2, g.gap/8, leastStep)
	g.relax()
}

// balance moves the gap in a rest, slowly, to where requests and bytes take equally long. That is the best one if one that is
// narrower was found to be decided by requests, and a wider one by bytes; both speeds are known then.
func (g *gapTuner) balance(seen Speed) {
	if !g.between || g.fixed {
		return
	}
	const even, pull, most, smooth = .1, .1, .3, .25
	g.speed.raise(seen, smooth)
	if off := math.Log(seen.Rate/g.speed.Rate) - math.Log(seen.Bandwidth/g.speed.Bandwidth); math.Abs(off) > even {
		g.gap = min(g.gap*(1+pull*min(max(off, -most), most)), MaxGap)
	}
}

// narrow ends a round or rest with a smaller gap.
func (g *gapTuner) narrow() {
	if g.fixed {
		return
	}
	if g.gap -= g.gap / 8; g.gap < leastStep {
		g.gap = 0
	}
	g.rest, g.pause = 0, roundBlocks
	g.clear()
}

// clear begins a round.
func (g *gapTuner) clear() {
	g.blocks, g.all, g.cross, g.square, g.top = 0, Block{}, 0, 0, Speed{}
}

func (g *gapTuner) relax() {
	g.rest = g.pause
	g.pause = min(2*g.pause, longestRest)
}
