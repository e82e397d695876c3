package report

import (
	"fmt"
	"html/template"
	"math"

	"github.com/go-analyze/charts"
)

// Charts are drawn at about the width at which a phone shows them, so that their text stays readable there.
const (
	chartWidth  = 420
	chartHeight = 230
	textSize    = 9  // points: 12 pixels of chartWidth, as the style sheet says
	dottedUpTo  = 30 // points of a line that are marked by dots; one point alone has no line to be seen

	axisLabels   = 8 // categories that are named on an axis, when there are more
	labelledBars = 8 // columns that have their values written on them, when there are not more
	mostColumns  = 40
)

// series is one line, or one bar of each group.
type series struct {
	role   role
	values []float64
}

// chart is what lines and bars share. Labels are the categories' names; top is the least value that the value axis must show,
// format how the axis says a value.
type chart struct {
	title  string // of the category axis
	labels []string
	series []series
	top    float64
	format func(float64) string
}

func (c chart) theme() charts.ColorPalette {
	var colours []charts.Color
	for _, s := range c.series {
		colours = append(colours, s.role.stand())
	}
	return charts.MakeTheme(charts.ThemeOption{
		AxisStrokeColor: roleAxis.stand(), AxisSplitLineColor: roleGrid.stand(), TextColor: roleText.stand(),
		BackgroundColor: charts.ColorTransparent, SeriesColors: colours,
	})
}

func (c chart) values() [][]float64 {
	var all [][]float64
	for _, s := range c.series {
		all = append(all, s.values)
	}
	return all
}

func (c chart) categoryAxis() charts.CategoryAxisOption {
	opt := charts.CategoryAxisOption{Labels: c.labels, Title: c.title, LabelFontStyle: small, TitleFontStyle: small}
	if len(c.labels) > axisLabels {
		opt.LabelCount = axisLabels
	}
	return opt
}

func (c chart) valueAxis() []charts.ValueAxisOption {
	top, steps := roundTop(c.top)
	return []charts.ValueAxisOption{{
		Min: charts.Ptr(0.0), Max: charts.Ptr(top), LabelCount: steps + 1, LabelFontStyle: small, ValueFormatter: c.format,
	}}
}

var small = charts.FontStyle{FontSize: textSize}

// roundTop returns the end of an axis from 0 that reaches v, and how many equal steps of a round size lead there.
func roundTop(v float64) (top float64, steps int) {
	if v <= 0 {
		return 1, 4
	}
	size := math.Pow(10, math.Floor(math.Log10(v/4)))
	for _, factor := range []float64{1, 2, 2.5, 5, 10} {
		// A rounding error must not cost a step.
		if steps := math.Ceil(v/(factor*size) - 1e-9); steps <= 4 {
			return steps * factor * size, int(steps)
		}
	}
	return 10 * size, 1
}

// centred gives a category that is alone an empty neighbour on each side: the library puts the name of a single one at the axis' end.
func (c chart) centred() chart {
	if len(c.labels) != 1 {
		return c
	}
	c.labels = []string{"", c.labels[0], ""}
	alone := c.series
	c.series = nil
	for _, s := range alone {
		c.series = append(c.series, series{s.role, []float64{charts.GetNullValue(), s.values[0], charts.GetNullValue()}})
	}
	return c
}

// lines draws each series as a line over the labels.
func lines(c chart) (template.HTML, error) {
	single := len(c.labels) == 1
	c = c.centred()
	opt := charts.NewLineChartOptionWithData(c.values())
	opt.Theme, opt.XAxis, opt.YAxis = c.theme(), c.categoryAxis(), c.valueAxis()
	opt.XAxis.BoundaryGap = charts.Ptr(false)
	opt.Padding, opt.LineStrokeWidth = charts.NewBox(4, 8, 14, 4), 1.5
	opt.Legend.Show = charts.Ptr(false)
	opt.Symbol.Shape = charts.SymbolNone
	if len(c.labels) <= dottedUpTo {
		opt.Symbol.Shape = charts.SymbolDot
	}
	for i, s := range c.series {
		if s.role == roleBound && !single {
			opt.SeriesList[i].Symbol.Shape = charts.SymbolNone // the loads' dots lie there
		}
	}
	p := newPainter(chartHeight)
	return drawn(p, p.LineChart(opt))
}

// label writes the values beside their bars.
func (c chart) label(bars charts.BarSeriesList) {
	for i := range bars {
		bars[i].Label = charts.SeriesLabel{Show: charts.Ptr(true), ValueFormatter: c.format, FontStyle: small}
	}
}

// columns draws each label's series as upright bars. Where they would be thinner than the gaps between them, a line goes over their tops.
func columns(c chart) (template.HTML, error) {
	if len(c.labels) > mostColumns {
		return lines(c)
	}
	c = c.centred()
	opt := charts.NewBarChartOptionWithData(c.values())
	opt.Theme, opt.CategoryAxis, opt.ValueAxis = c.theme(), c.categoryAxis(), c.valueAxis()
	opt.BarSize = min(0.7, 0.15*float64(len(c.labels)))
	if len(c.labels) <= labelledBars {
		c.label(opt.SeriesList)
	}
	opt.Padding = charts.NewBox(4, 8, 14, 4)
	opt.Legend.Show = charts.Ptr(false)
	p := newPainter(chartHeight)
	return drawn(p, p.BarChart(opt))
}

// lying draws each label's series as bars from left to right, for labels that are names and need room.
func lying(c chart) (template.HTML, error) {
	opt := charts.NewBarChartOptionWithData(c.values())
	opt.Horizontal = true
	opt.Theme, opt.CategoryAxis, opt.ValueAxis = c.theme(), c.categoryAxis(), c.valueAxis()
	opt.Padding = charts.NewBox(4, 8, 70, 4)
	opt.Legend.Show = charts.Ptr(false)
	opt.CategoryAxis.LabelCount = 0 // every name
	c.label(opt.SeriesList)
	p := newPainter(50 + len(c.labels)*(8+20*len(c.series)))
	return drawn(p, p.BarChart(opt))
}

func newPainter(height int) *charts.Painter {
	return charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: chartWidth, Height: height})
}

// drawn takes the drawing out of the painter. The library has escaped the texts in it.
func drawn(p *charts.Painter, err error) (template.HTML, error) {
	if err != nil {
		return "", fmt.Errorf("draw a chart: %w", err)
	}
	svg, err := p.Bytes()
	if err != nil {
		return "", fmt.Errorf("draw a chart: %w", err)
	}
	return template.HTML(toStyleSheet.Replace(string(svg))), nil
}
