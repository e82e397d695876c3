// Package report writes one HTML page that shows what a plan or a simulation found: the strategies side by side, loads per epoch
// against the bound, loads per node and step, hits over an epoch, and batch sizes.
//
// The page is one file that needs nothing else: no script runs in it, and its content security policy forbids every
// request. The figures stand in it twice, as tables and as JSON (<script type="application/json" id="figures">), in the names that
// `solarfs simulate --json` uses. It follows the reader's light or dark scheme, fits a phone, and prints in the light one.
//
// Beside it, WriteRatios draws the chart of a benchmark.
//
// The words are the project's (planner/doc.go): sample, node, rank, step, epoch, load, hit, bound. The package imports nothing
// of the project and is pure: values in, bytes out, the same bytes for the same values.
//
// Charts are drawn by github.com/go-analyze/charts, since it is maintained and writes bare SVG of a few kilobytes, while
// go-echarts would put a megabyte of script into every page and gonum/plot brings PDF and TeX back ends with it.
package report
