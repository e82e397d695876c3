package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/dustin/go-humanize"
)

// section is a part of the page under one heading: charts that share a scale and a key, and the tables behind them.
type section struct {
	ID, Heading, Note string
	Open              bool // the tables stand before the charts and are not folded
	Key               []keyEntry
	Figures           []figure
	Tables            []table
}

// keyEntry says what a colour means.
type keyEntry struct {
	Role role
	Name string
}

// figure is a chart with its caption, and in words what it shows.
type figure struct {
	Caption, Alt string
	Chart        template.HTML
}

// draw appends a figure.
func (s *section) draw(caption, alt string, by func(chart) (template.HTML, error), c chart) error {
	svg, err := by(c)
	if err != nil {
		return fmt.Errorf("%s, %s: %w", s.Heading, caption, err)
	}
	s.Figures = append(s.Figures, figure{Caption: caption, Alt: alt, Chart: svg})
	return nil
}

// axisNumber writes a value to a hundredth of its unit, thousands as k, millions as M.
func axisNumber(v float64) string {
	scaled, prefix := v, ""
	if v >= 1000 {
		scaled, prefix = humanize.ComputeSI(v)
	}
	return strconv.FormatFloat(math.Round(scaled*100)/100, 'f', -1, 64) + prefix
}

func axisPercent(share float64) string { return strconv.Itoa(int(math.Round(100*share))) + " %" }

// axisName is a name that leaves room for the bars.
func axisName(name string) string {
	const most = 14
	if utf8.RuneCountInString(name) <= most {
		return name
	}
	return string([]rune(name)[:most-1]) + "…"
}

func floats(values []int) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = float64(v)
	}
	return out
}

func numbers(values []int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = strconv.Itoa(v)
	}
	return out
}

func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// highest returns the greatest of what values gives for the rows: the scale that their charts share.
func highest(rows []rowFigures, values func(rowFigures) []float64) float64 {
	top := 0.0
	for _, r := range rows {
		if v := values(r); len(v) > 0 {
			top = max(top, slices.Max(v))
		}
	}
	return top
}
