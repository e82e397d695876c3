package report

import (
	"fmt"
	"html"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"

	"github.com/go-analyze/charts"
)

// Ratios are bars of a benchmark: how many times each system does what another one does, which is 1.
type Ratios struct {
	Title  string
	Groups []RatioGroup
}

// RatioGroup is what was measured side by side.
type RatioGroup struct {
	Name string
	Bars []RatioBar
}

// RatioBar is one system. Value is above 0. Ours tells the project's own from the others.
type RatioBar struct {
	Name  string
	Value float64
	Ours  bool
}

// Pixels of the drawing's parts.
const (
	ratioWidth   = 720
	ratioHead    = 26 // above each group's bars: its name
	ratioTitle   = 34
	ratioPerBar  = 22
	ratioAround  = 44 // what axis and padding take of a group's height
	ratioLabels  = 60 // to the right of the longest bar
	ratioPadding = 4
)

// WriteRatios draws one SVG that needs nothing else and follows the reader's light or dark scheme. The scale is logarithmic and the same for all groups.
func WriteRatios(w io.Writer, r Ratios) error {
	low, high, err := r.decades()
	if err != nil {
		return err
	}
	var body strings.Builder
	y := ratioTitle
	for _, g := range r.Groups {
		drawing, err := g.draw(low, high)
		if err != nil {
			return err
		}
		fmt.Fprintf(&body, "<text class=\"name\" x=\"8\" y=\"%d\">%s</text>\n", y+ratioHead-8, html.EscapeString(g.Name))
		y += ratioHead
		body.WriteString(nested(drawing, y, g.height()) + "\n")
		y += g.height()
	}
	_, err = fmt.Fprintf(w, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\">\n<title>%s</title>\n<style>%s</style>\n"+
		"<rect class=\"page\" width=\"100%%\" height=\"100%%\"/>\n<text class=\"title\" x=\"8\" y=\"22\">%s</text>\n%s</svg>\n",
		ratioWidth, y+8, ratioWidth, y+8, html.EscapeString(r.Title), ratioStyle, html.EscapeString(r.Title), &body)
	if err != nil {
		return fmt.Errorf("write the chart: %w", err)
	}
	return nil
}

// ratioStyle is the page's two colour schemes and the rules for what the drawing has beside its bars.
var ratioStyle = func() string {
	light, rest, _ := strings.Cut(styleSheet, "}")
	_, dark, _ := strings.Cut(rest, "@media screen and (prefers-color-scheme: dark) {")
	dark, _, _ = strings.Cut(dark, "}")
	return strings.TrimSpace(light) + "}\n@media (prefers-color-scheme: dark) {" + dark + "} }\n" +
		"text { font-family: Roboto, Helvetica, Arial, sans-serif; font-size: 11px; } .title { font-weight: 600; font-size: 15px; } .title, .name { fill: var(--text); } .page { fill: var(--page); }\n"
}()

// decades are the powers of ten between which all values lie: at least one.
func (r Ratios) decades() (low, high float64, err error) {
	low, high = 0, 0
	for _, g := range r.Groups {
		for _, b := range g.Bars {
			if !(b.Value > 0) || math.IsInf(b.Value, 1) {
				return 0, 0, fmt.Errorf("draw %s of %s: its ratio is %v; give a positive one", b.Name, g.Name, b.Value)
			}
			low, high = min(low, math.Floor(math.Log10(b.Value))), max(high, math.Ceil(math.Log10(b.Value)))
		}
	}
	if len(r.Groups) == 0 {
		return 0, 0, fmt.Errorf("draw ratios: there are none")
	}
	// A bar of the least value is to be seen as well.
	return low - 0.5, max(high, low+1), nil
}

func (g RatioGroup) height() int { return ratioAround + ratioPerBar*len(g.Bars) }

// draw draws the bars as their logarithms above low.
func (g RatioGroup) draw(low, high float64) (string, error) {
	c := chart{format: func(v float64) string {
		if v == 0 { // the other series' bar
			return ""
		}
		return fmt.Sprintf("%.3g", math.Pow(10, v+low))
	}}
	decade := func(v float64) string {
		if at := v + low; math.Abs(at-math.Round(at)) < 1e-6 {
			return fmt.Sprintf("%gx", math.Pow(10, math.Round(at)))
		}
		return ""
	}
	others, ours := series{role: nodeRole(7)}, series{role: roleLoads}
	for _, b := range slices.Backward(g.Bars) { // the library begins at the bottom
		long := math.Log10(b.Value) - low
		c.labels = append(c.labels, b.Name)
		if b.Ours {
			others.values, ours.values = append(others.values, 0), append(ours.values, long)
		} else {
			others.values, ours.values = append(others.values, long), append(ours.values, 0)
		}
	}
	c.series = []series{others, ours}
	opt := charts.NewBarChartOptionWithData(c.values())
	opt.Horizontal, opt.StackSeries = true, charts.Ptr(true)
	opt.Theme, opt.CategoryAxis = c.theme(), c.categoryAxis()
	opt.CategoryAxis.LabelCount = 0 // every name
	opt.ValueAxis = []charts.ValueAxisOption{{
		Min: charts.Ptr(0.0), Max: charts.Ptr(high - low), LabelCount: int(2*(high-low)) + 1, LabelFontStyle: small, ValueFormatter: decade,
	}}
	opt.Padding = charts.NewBox(ratioPadding, ratioPadding, ratioLabels, ratioPadding)
	opt.Legend.Show = charts.Ptr(false)
	c.label(opt.SeriesList)
	for i := range opt.SeriesList { // the library would choose a colour to read inside the bar
		opt.SeriesList[i].Label.FontStyle.FontColor = roleText.stand()
	}
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: ratioWidth, Height: g.height()})
	drawing, err := drawn(p, p.BarChart(opt))
	return string(drawing), err
}

// outerSVG is the library's root element.
var outerSVG = regexp.MustCompile(`^<svg `)

// nested puts a drawing into another one, so far from the top.
func nested(drawing string, y, height int) string {
	return outerSVG.ReplaceAllString(drawing, fmt.Sprintf(`<svg y="%d" width="%d" height="%d" `, y, ratioWidth, height))
}
