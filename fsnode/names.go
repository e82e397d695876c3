package fsnode

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

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
	ok := false
	if n.step, ok = numbered(number, "batch-", 0, t.steps); !ok {
		return n, false
	}
	column, _ = strings.CutSuffix(column, batchSuffix)
	n.column = slices.Index(t.columns, column)
	return n, n.column >= 0 && t.name(n) == name
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
