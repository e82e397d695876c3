package report

import (
	"fmt"
	"slices"
)

// comparison puts the whole runs side by side.
func comparison(rows []rowFigures) (section, error) {
	s := section{ID: "strategies", Heading: "Strategies side by side", Open: true, Tables: []table{strategies(rows)}}
	if len(rows) == 0 {
		return s, nil
	}
	all := chart{format: axisNumber, series: []series{{role: roleLoads}, {role: roleBound}}}
	timed := chart{format: axisNumber, series: []series{{role: roleLoads}}}
	for _, r := range slices.Backward(rows) { // the library draws the first at the bottom
		name := axisName(r.Name)
		all.add(name, float64(r.Loads), float64(r.LoadsBound))
		if len(r.SecondsByEpoch) > 0 {
			timed.add(name, sum(r.SecondsByEpoch))
		}
	}
	s.Key = []keyEntry{{roleLoads, "loads"}, {roleBound, "bound: the least loads possible"}}
	err := s.draw("Loads, all epochs", "Bars of each strategy's loads and of its bound. The table has the figures.", lying, all)
	if err == nil && len(timed.labels) > 0 {
		err = s.draw("Predicted seconds, all epochs", "Bars of each strategy's predicted seconds. The table has the figures.", lying, timed)
	}
	return s, err
}

// add appends one category with a value for each series.
func (c *chart) add(label string, values ...float64) {
	c.labels = append(c.labels, label)
	for i, v := range values {
		c.series[i].values = append(c.series[i].values, v)
		c.top = max(c.top, v)
	}
}

// epochs draws the loads of each epoch against the bound.
func epochs(rows []rowFigures) (section, error) {
	s := section{ID: "epochs", Heading: "Loads per epoch", Key: []keyEntry{{roleLoads, "loads"}, {roleBound, "bound"}}}
	top := highest(rows, func(r rowFigures) []float64 { return floats(slices.Concat(r.LoadsByEpoch, r.BoundByEpoch)) })
	for _, r := range rows {
		n := len(r.LoadsByEpoch)
		if n == 0 {
			continue
		}
		c := chart{title: "epoch", labels: numbers(upTo(n)), top: top, format: axisNumber}
		if len(r.BoundByEpoch) > 0 {
			c.series = append(c.series, series{roleBound, floats(r.BoundByEpoch)})
		}
		c.series = append(c.series, series{roleLoads, floats(r.LoadsByEpoch)})
		alt := fmt.Sprintf("%s: %s loads in epoch 0, %s in epoch %d.", r.Name, count(r.LoadsByEpoch[0]), count(r.LoadsByEpoch[n-1]), n-1)
		if err := s.draw(r.Name, alt, lines, c); err != nil {
			return s, err
		}
		s.Tables = append(s.Tables, epochTable(r))
	}
	return s, nil
}
