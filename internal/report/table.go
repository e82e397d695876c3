package report

import (
	"maps"
	"slices"
	"strconv"

	"github.com/dustin/go-humanize"
)

// table is a table with a caption, a head over each column and one before each row.
// Invariant: every row has one cell less than Head.
type table struct {
	Caption string
	Head    []string
	Rows    []tableRow
}

type tableRow struct {
	Head  string
	Cells []string
}

const none = "–"

func count(n int) string { return humanize.Comma(int64(n)) }

// decimal writes a ratio, seconds or mean loads to a thousandth.
func decimal(v float64) string { return humanize.FormatFloat("#,###.###", v) }

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 2, 64) + " %" }

// strategies puts the strategies side by side: a column each, so that any number of figures fits.
func strategies(rows []rowFigures) table {
	t := table{Caption: "All figures, by strategy", Head: []string{"Figure"}}
	for _, r := range rows {
		t.Head = append(t.Head, r.Name)
	}
	for _, line := range []struct {
		head string
		cell func(Row) string
	}{
		{"Samples", func(r Row) string { return count(r.Samples) }},
		{"Nodes", func(r Row) string { return count(r.Nodes) }},
		{"Ranks", func(r Row) string { return count(r.Ranks) }},
		{"Batch size, samples per rank and step", func(r Row) string { return count(r.BatchSize) }},
		{"Steps per epoch", func(r Row) string { return count(r.StepsPerEpoch) }},
		{"Buffers, of the data set", func(r Row) string { return percent(r.BufferShare) }},
		{"Loads", func(r Row) string { return count(r.Loads) }},
		{"Bound: the least loads possible", func(r Row) string { return count(r.LoadsBound) }},
		{"Loads over bound", func(r Row) string { return ratio(r.Loads, r.LoadsBound) }},
		{"Storage reads", func(r Row) string { return total(r.StorageReadsByEpoch) }},
		{"Hit rate", func(r Row) string { return percent(r.HitRate) }},
		{"Smallest batch, samples", func(r Row) string { return count(r.MinBatch) }},
		{"Largest batch, samples", func(r Row) string { return count(r.MaxBatch) }},
		{"Busiest node over mean, per step", func(r Row) string { return decimal(r.BusiestOverMeanStep) }},
		{"Busiest node over mean, per 16 steps", func(r Row) string { return decimal(r.BusiestOverMean16Steps) }},
		{"Predicted seconds, all epochs", func(r Row) string { return seconds(r.SecondsByEpoch) }},
	} {
		row := tableRow{Head: line.head}
		for _, r := range rows {
			row.Cells = append(row.Cells, line.cell(r.Row))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func ratio(over, under int) string {
	if under == 0 {
		return none
	}
	return decimal(float64(over) / float64(under))
}

func sum[T int | float64](values []T) (total T) {
	for _, v := range values {
		total += v
	}
	return total
}

func total(values []int) string {
	if len(values) == 0 {
		return none
	}
	return count(sum(values))
}

func seconds(byEpoch []float64) string {
	if len(byEpoch) == 0 {
		return none
	}
	return decimal(sum(byEpoch))
}

// column is one column of a table; cell says what stands at a row's index.
type column struct {
	head string
	cell func(i int) string
}

// whereAny leaves the column out of a table that has nothing for it.
func whereAny[T any](head string, values []T, format func(T) string) []column {
	if len(values) == 0 {
		return nil
	}
	return []column{{head, func(i int) string { return format(values[i]) }}}
}

// newTable makes a table of n rows; the first column is the head of each.
func newTable(caption string, n int, first column, others ...[]column) table {
	columns := slices.Concat(others...)
	t := table{Caption: caption, Head: []string{first.head}}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for i := range n {
		row := tableRow{Head: first.cell(i)}
		for _, c := range columns {
			row.Cells = append(row.Cells, c.cell(i))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func epochTable(r rowFigures) table {
	return newTable(r.Name+": every epoch", len(r.LoadsByEpoch), column{"Epoch", strconv.Itoa},
		whereAny("Loads", r.LoadsByEpoch, count),
		whereAny("Bound", r.BoundByEpoch, count),
		whereAny("Storage reads", r.StorageReadsByEpoch, count),
		whereAny("Predicted seconds", r.SecondsByEpoch, decimal))
}

func stepTable(r rowFigures) table {
	var low, mean, high []float64
	if r.spread != nil {
		low, mean, high = r.Min, r.Mean, r.Max
	}
	return newTable(r.Name+": loads per step and hits, "+epochOf(r), len(r.Steps),
		column{"From step", func(i int) string { return strconv.Itoa(r.Steps[i]) }},
		whereAny("Least of a node", low, decimal),
		whereAny("Mean of the nodes", mean, decimal),
		whereAny("Most of a node", high, decimal),
		whereAny("Hits, of the samples", r.HitShare, percent))
}

func nodeTable(r rowFigures) table {
	return newTable(r.Name+": loads per step of each node, mean over "+epochOf(r), len(r.ByNode), column{"Node", strconv.Itoa},
		whereAny("Loads per step", r.ByNode, decimal))
}

func batchTable(r rowFigures) table {
	sizes := slices.Sorted(maps.Keys(r.Batches))
	return newTable(r.Name+": batches by size, "+epochOf(r), len(sizes), column{"Samples in the batch", func(i int) string { return count(sizes[i]) }},
		[]column{{"Batches", func(i int) string { return count(r.Batches[sizes[i]]) }}})
}

func epochOf(r rowFigures) string { return "epoch " + strconv.Itoa(r.SeriesEpoch) }
