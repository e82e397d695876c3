package fsnode

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

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

// name is what the node is called in its directory.
func (t *tree) name(n node) string {
	switch n.kind {
	case kindControlDir:
		return controlDir
	case kindControl:
		return t.controls[n.column]
	case kindEpoch:
		return fmt.Sprintf("epoch-%0*d", t.epochDigits, n.epoch)
	case kindRank:
		return fmt.Sprintf("rank-%0*d", t.rankDigits, n.rank)
	case kindSamples:
		return samplesName
	case kindWeights:
		return weightsName
	case kindBatch:
		return fmt.Sprintf("batch-%0*d.%s%s", t.stepDigits, n.step, t.columns[n.column], batchSuffix)
	}
	return "/"
}

// child finds name in the directory dir. A name that this mount does not list
// is not there.
func (t *tree) child(dir node, name string) (node, bool) {
	n := dir
	ok := false
	switch dir.kind {
	case kindRoot:
		n.kind, ok = kindControlDir, name == controlDir
		if !ok {
			n.kind = kindEpoch
			n.epoch, ok = numbered(name, "epoch-", 0, t.epochs)
		}
	case kindControlDir:
		n.kind = kindControl
		for n.column = range t.controls {
			if ok = name == t.controls[n.column]; ok {
				break
			}
		}
	case kindEpoch:
		n.kind = kindRank
		n.rank, ok = numbered(name, "rank-", t.firstRank, t.lastRank)
	case kindRank:
		return t.inRank(dir, name)
	}
	// The name must be written as name writes it: no second name for a node.
	return n, ok && t.name(n) == name
}

func (t *tree) inRank(dir node, name string) (node, bool) {
	n := dir
	switch name {
	case samplesName:
		n.kind = kindSamples
		return n, true
	case weightsName:
		n.kind = kindWeights
		return n, true
	}
	n.kind = kindBatch
	number, column, _ := strings.Cut(name, ".")
	column, ok := strings.CutSuffix(column, batchSuffix)
	if n.step, _ = numbered(number, "batch-", 0, t.steps); !ok {
		return n, false
	}
	for n.column = range t.columns {
		if column == t.columns[n.column] {
			return n, t.name(n) == name
		}
	}
	return n, false
}

// numbered parses prefix + decimal digits into [from, to).
func numbered(name, prefix string, from, to int) (int, bool) {
	digits, ok := strings.CutPrefix(name, prefix)
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n >= from && n < to
}

// parent is the directory that n stands in.
func (t *tree) parent(n node) node {
	switch n.kind {
	case kindControl:
		return node{kind: kindControlDir}
	case kindRank:
		return node{kind: kindEpoch, epoch: n.epoch}
	case kindSamples, kindWeights, kindBatch:
		return node{kind: kindRank, epoch: n.epoch, rank: n.rank}
	}
	return node{kind: kindRoot}
}

// entries is how many entries the directory has; entry is the i-th of them, in
// the order of their names.
func (t *tree) entries(dir node) int {
	switch dir.kind {
	case kindRoot:
		return 1 + t.epochs
	case kindControlDir:
		return len(t.controls)
	case kindEpoch:
		return t.lastRank - t.firstRank
	case kindRank:
		return t.steps*len(t.columns) + 2
	}
	return 0
}

func (t *tree) entry(dir node, i int) node {
	n := dir
	switch dir.kind {
	case kindRoot:
		if i == 0 {
			return node{kind: kindControlDir}
		}
		return node{kind: kindEpoch, epoch: i - 1}
	case kindControlDir:
		return node{kind: kindControl, column: i}
	case kindEpoch:
		n.kind, n.rank = kindRank, t.firstRank+i
		return n
	}
	switch batches := t.steps * len(t.columns); i {
	case batches:
		n.kind = kindSamples
	case batches + 1:
		n.kind = kindWeights
	default:
		n.kind, n.step, n.column = kindBatch, i/len(t.columns), i%len(t.columns)
	}
	return n
}

func (n node) isDir() bool {
	return n.kind <= kindControlDir || n.kind == kindEpoch || n.kind == kindRank
}
