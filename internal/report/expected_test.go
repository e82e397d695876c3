package report

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/dustin/go-humanize"
)

// decodable is the page as its JSON says it: series rounded, the nodes' own left out where there are many, empty series nil.
func decodable(p Page) Page {
	rows := slices.Clone(p.Rows)
	for i, r := range rows {
		rows[i].HitShare = nil
		for _, v := range r.HitShare {
			rows[i].HitShare = append(rows[i].HitShare, math.Round(v*1e6)/1e6)
		}
		rows[i].LoadsPerNode = nil
		if len(r.LoadsPerNode) > 8 {
			continue
		}
		for _, loads := range r.LoadsPerNode {
			var rounded []float64
			for _, v := range loads {
				rounded = append(rounded, math.Round(v*1e3)/1e3)
			}
			rows[i].LoadsPerNode = append(rows[i].LoadsPerNode, rounded)
		}
	}
	p.Rows = rows
	return p
}

// wantTables says what the tables of a page must read, by caption: the head and the rows.
func wantTables(p Page) map[string][][]string {
	want := map[string][][]string{"All figures, by strategy": wholeTable(p.Rows)}
	for _, r := range p.Rows {
		epochs := [][]string{{"Epoch", "Loads", "Bound", "Storage reads"}}
		if len(r.SecondsByEpoch) > 0 {
			epochs[0] = append(epochs[0], "Predicted seconds")
		}
		for e, loads := range r.LoadsByEpoch {
			row := []string{fmt.Sprint(e), humanize.Comma(int64(loads)), humanize.Comma(int64(r.BoundByEpoch[e])), humanize.Comma(int64(r.StorageReadsByEpoch[e]))}
			if len(r.SecondsByEpoch) > 0 {
				row = append(row, fmt.Sprintf("%.3f", r.SecondsByEpoch[e]))
			}
			epochs = append(epochs, row)
		}
		want[r.Name+": every epoch"] = epochs
		want[fmt.Sprintf("%s: loads per step and hits, epoch %d", r.Name, r.SeriesEpoch)] = stepRows(r)
		sizes := [][]string{{"Samples in the batch", "Batches"}}
		for _, size := range slices.Sorted(maps.Keys(r.Batches)) {
			sizes = append(sizes, []string{fmt.Sprint(size), humanize.Comma(int64(r.Batches[size]))})
		}
		want[fmt.Sprintf("%s: batches by size, epoch %d", r.Name, r.SeriesEpoch)] = sizes
	}
	return want
}

func stepRows(r Row) [][]string {
	rows := [][]string{{"From step", "Least of a node", "Mean of the nodes", "Most of a node", "Hits, of the samples"}}
	for i, step := range r.Steps {
		var at []float64
		sum := 0.0
		for _, loads := range r.LoadsPerNode {
			at = append(at, loads[i])
			sum += loads[i]
		}
		rows = append(rows, []string{
			fmt.Sprint(step), fmt.Sprintf("%.3f", slices.Min(at)), fmt.Sprintf("%.3f", sum/float64(len(at))), fmt.Sprintf("%.3f", slices.Max(at)),
			fmt.Sprintf("%.2f %%", 100*math.Round(r.HitShare[i]*1e6)/1e6), // as the JSON has it
		})
	}
	return rows
}

func wholeTable(rows []Row) [][]string {
	heads := []string{
		"Figure", "Samples", "Nodes", "Ranks", "Batch size, samples per rank and step", "Steps per epoch", "Buffers, of the data set",
		"Loads", "Bound: the least loads possible", "Loads over bound", "Storage reads", "Hit rate", "Smallest batch, samples", "Largest batch, samples",
		"Busiest node over mean, per step", "Busiest node over mean, per 16 steps", "Predicted seconds, all epochs",
	}
	want := make([][]string, len(heads))
	for i, head := range heads {
		want[i] = []string{head}
	}
	for _, r := range rows {
		reads, total, seconds := 0, 0.0, "–"
		for _, n := range r.StorageReadsByEpoch {
			reads += n
		}
		for _, s := range r.SecondsByEpoch {
			total += s
			seconds = fmt.Sprintf("%.3f", total)
		}
		cells := []string{r.Name}
		comma := func(values ...int) {
			for _, v := range values {
				cells = append(cells, humanize.Comma(int64(v)))
			}
		}
		comma(r.Samples, r.Nodes, r.Ranks, r.BatchSize, r.StepsPerEpoch)
		cells = append(cells, fmt.Sprintf("%.2f %%", 100*r.BufferShare))
		comma(r.Loads, r.LoadsBound)
		cells = append(cells, fmt.Sprintf("%.3f", float64(r.Loads)/float64(r.LoadsBound)))
		comma(reads)
		cells = append(cells, fmt.Sprintf("%.2f %%", 100*r.HitRate))
		comma(r.MinBatch, r.MaxBatch)
		cells = append(cells, fmt.Sprintf("%.3f", r.BusiestOverMeanStep), fmt.Sprintf("%.3f", r.BusiestOverMean16Steps), seconds)
		for i, cell := range cells {
			want[i] = append(want[i], cell)
		}
	}
	return want
}
