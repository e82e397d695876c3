package fsnode

import (
	"fmt"
	"math/bits"
	"strconv"

	"solarfs/planner"
)

// kind is what a node of the tree is.
type kind uint8

const (
	kindRoot kind = iota
	kindControlDir
	kindControl // a file of .solarfs, by its index in controlNames
	kindEpoch
	kindRank
	kindSamples
	kindWeights
	kindBatch
)

// The numbers of the fixed nodes; those of the epochs begin at firstEpoch. The
// room between is for what later comes beside them.
const (
	rootNode    = 1
	controlNode = 2
	firstFile   = 3
	firstEpoch  = 1 << 20
)

const (
	controlDir  = ".solarfs"
	samplesName = "samples.npy"
	weightsName = "weights.npy"
	batchSuffix = ".npy"
)

// node is a place in the tree. Only the fields that its kind needs are set.
type node struct {
	kind                      kind
	epoch, rank, step, column int // column: the field of a batch, or which control file
}

// tree is the shape of one mount's directory.
type tree struct {
	epochs, ranks, steps int
	columns              []string // field names, in the order of batch files of a step
	controls             []string // names in .solarfs
	firstRank, lastRank  int      // listed ranks [firstRank, lastRank)

	epochDigits, rankDigits, stepDigits int
}

func newTree(spec planner.Spec, columns []string, controls []string, firstRank, lastRank int) (*tree, error) {
	t := &tree{
		epochs: spec.Epochs, ranks: spec.Ranks(), steps: spec.Steps(),
		columns: columns, controls: controls, firstRank: firstRank, lastRank: lastRank,
		epochDigits: digits(spec.Epochs, 4), rankDigits: digits(spec.Ranks(), 4), stepDigits: digits(spec.Steps(), 6),
	}
	perRank := uint64(t.steps)*uint64(len(columns)) + 3
	hi, perEpoch := bits.Mul64(perRank, uint64(t.ranks))
	hi2, all := bits.Mul64(perEpoch+1, uint64(t.epochs))
	if hi != 0 || hi2 != 0 || all > 1<<62 {
		return nil, fmt.Errorf("%d epochs x %d ranks x %d steps x %d fields are more files than can be numbered; plan fewer epochs", t.epochs, t.ranks, t.steps, len(columns))
	}
	return t, nil
}

// digits is the width of a zero-padded number below n, so that names sort.
func digits(n, least int) int { return max(least, len(strconv.Itoa(n-1))) }

// A rank's block of numbers is its directory, samples.npy, weights.npy, then
// the batch files step by step; an epoch's is its directory, then its ranks.
func (t *tree) rankBlock() uint64  { return 3 + uint64(t.steps)*uint64(len(t.columns)) }
func (t *tree) epochBlock() uint64 { return 1 + uint64(t.ranks)*t.rankBlock() }

// number is the node's inode number.
func (t *tree) number(n node) uint64 {
	switch n.kind {
	case kindRoot:
		return rootNode
	case kindControlDir:
		return controlNode
	case kindControl:
		return firstFile + uint64(n.column)
	}
	epoch := firstEpoch + uint64(n.epoch)*t.epochBlock()
	if n.kind == kindEpoch {
		return epoch
	}
	rank := epoch + 1 + uint64(n.rank)*t.rankBlock()
	switch n.kind {
	case kindRank:
		return rank
	case kindSamples:
		return rank + 1
	case kindWeights:
		return rank + 2
	}
	return rank + 3 + uint64(n.step)*uint64(len(t.columns)) + uint64(n.column)
}

// node is the inverse of number.
func (t *tree) node(number uint64) (node, bool) {
	switch {
	case number == rootNode:
		return node{kind: kindRoot}, true
	case number == controlNode:
		return node{kind: kindControlDir}, true
	case number >= firstFile && number < firstFile+uint64(len(t.controls)):
		return node{kind: kindControl, column: int(number - firstFile)}, true
	case number < firstEpoch || number-firstEpoch >= uint64(t.epochs)*t.epochBlock():
		return node{}, false
	}
	n := node{kind: kindEpoch, epoch: int((number - firstEpoch) / t.epochBlock())}
	rest := (number - firstEpoch) % t.epochBlock()
	if rest == 0 {
		return n, true
	}
	n.rank, rest = int((rest-1)/t.rankBlock()), (rest-1)%t.rankBlock()
	switch rest {
	case 0:
		n.kind = kindRank
	case 1:
		n.kind = kindSamples
	case 2:
		n.kind = kindWeights
	default:
		n.kind = kindBatch
		n.step, n.column = int((rest-3)/uint64(len(t.columns))), int((rest-3)%uint64(len(t.columns)))
	}
	return n, true
}

func (n node) isDir() bool {
	return n.kind <= kindControlDir || n.kind == kindEpoch || n.kind == kindRank
}
