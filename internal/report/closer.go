package report

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
)

// These sections look at one epoch closely.

// busiest is the scale of all charts of a node's loads per step.
func busiest(rows []rowFigures) float64 {
	return highest(rows, func(r rowFigures) []float64 {
		if r.spread == nil {
			return nil
		}
		return r.Max
	})
}

// nodeSteps draws a line per node while there are few, and the nodes' least, mean and most beyond.
func nodeSteps(rows []rowFigures) (section, error) {
	s := section{ID: "steps", Heading: "Loads per node and step", Note: "Mean loads per step of a node, over the steps that each point stands for."}
	top, single, many := busiest(rows), 0, false
	for _, r := range rows {
		if len(r.Steps) > 0 {
			s.Tables = append(s.Tables, stepTable(r))
		}
		if r.spread == nil {
			continue
		}
		c := chart{title: "step", labels: numbers(r.Steps), top: top, format: axisNumber, series: nodeLines(r)}
		if nodes := len(r.LoadsPerNode); nodes <= singleNodes {
			single = max(single, nodes)
		} else {
			many = true
		}
		alt := fmt.Sprintf("%s: from %s to %s loads per step of a node.", r.Name, decimal(slices.Min(r.Min)), decimal(slices.Max(r.Max)))
		if err := s.draw(r.Name+", "+epochOf(r), alt, lines, c); err != nil {
			return s, err
		}
	}
	for node := range single {
		s.Key = append(s.Key, keyEntry{nodeRole(node), "node " + strconv.Itoa(node)})
	}
	if many {
		s.Key = append(s.Key, keyEntry{roleMost, "most of a node"}, keyEntry{roleLoads, "mean of the nodes"}, keyEntry{roleLeast, "least of a node"})
	}
	return s, nil
}

func nodeLines(r rowFigures) []series {
	if len(r.LoadsPerNode) > singleNodes {
		return []series{{roleMost, r.Max}, {roleLeast, r.Min}, {roleLoads, r.Mean}}
	}
	var all []series
	for node, values := range r.LoadsPerNode {
		all = append(all, series{nodeRole(node), values})
	}
	return all
}

// nodeMeans draws what each node loads over the whole epoch, where there are several and not too many to tell apart.
func nodeMeans(rows []rowFigures) (section, error) {
	s := section{ID: "nodes", Heading: "Loads of each node", Note: "Loads per step, mean over the epoch."}
	top := busiest(rows)
	for _, r := range rows {
		if len(r.LoadsPerNode) < 2 || r.spread == nil || len(r.ByNode) > shownNodes {
			continue
		}
		c := chart{title: "node", labels: numbers(upTo(len(r.ByNode))), top: top, format: axisNumber, series: []series{{roleLoads, r.ByNode}}}
		alt := fmt.Sprintf("%s: from %s to %s loads per step, by node.", r.Name, decimal(slices.Min(r.ByNode)), decimal(slices.Max(r.ByNode)))
		if err := s.draw(r.Name+", "+epochOf(r), alt, columns, c); err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, nodeTable(r))
	}
	return s, nil
}

// hits draws the share of hits. Its figures stand in the tables of nodeSteps.
func hits(rows []rowFigures) (section, error) {
	s := section{ID: "hits", Heading: "Hits over the epoch", Note: "Hits, of the samples of the steps that each point stands for. The tables of loads per node and step have the figures."}
	for _, r := range rows {
		if len(r.HitShare) == 0 {
			continue
		}
		c := chart{title: "step", labels: numbers(r.Steps), top: 1, format: axisPercent, series: []series{{roleLoads, r.HitShare}}}
		alt := fmt.Sprintf("%s: from %s to %s hits.", r.Name, percent(slices.Min(r.HitShare)), percent(slices.Max(r.HitShare)))
		if err := s.draw(r.Name+", "+epochOf(r), alt, lines, c); err != nil {
			return s, err
		}
	}
	return s, nil
}

func batches(rows []rowFigures) (section, error) {
	s := section{ID: "batches", Heading: "Batch sizes", Note: "How many batches of the epoch have which size, over all ranks."}
	for _, r := range rows {
		sizes := slices.Sorted(maps.Keys(r.Batches))
		if len(sizes) == 0 {
			continue
		}
		c := chart{title: "samples in the batch", format: axisNumber, series: []series{{role: roleLoads}}}
		for _, size := range sizes {
			c.add(strconv.Itoa(size), float64(r.Batches[size]))
		}
		alt := fmt.Sprintf("%s: batches of %d to %d samples.", r.Name, sizes[0], sizes[len(sizes)-1])
		if err := s.draw(r.Name+", "+epochOf(r), alt, columns, c); err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, batchTable(r))
	}
	return s, nil
}
