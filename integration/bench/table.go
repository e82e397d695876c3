package main

import (
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"solarfs/internal/report"
)

var columns = []string{"x best loader", "x w0", "system", "buffers", "samples/s", "MB/s", "s/epoch", "epochs", "CPU s/GB", "requests/epoch", "MB read/epoch", "note"}

// cells are a row's texts, in the order of columns.
func (r Row) cells() []string {
	requests, bytes, epochs := "", "", "part"
	if r.Requests != nil {
		requests, bytes = fmt.Sprint(*r.Requests), fmt.Sprintf("%.0f", float64(*r.RequestBytes)/1e6)
	}
	if r.Epochs > 0 {
		epochs = fmt.Sprint(r.Epochs)
	}
	return []string{ratio(r.OverBest), ratio(r.OverPlain), r.System, r.buffers(), fmt.Sprintf("%.0f", r.SamplesPerSecond), fmt.Sprintf("%.0f", r.MBPerSecond),
		fmt.Sprintf("%.2f", r.SecondsPerEpoch), epochs, fmt.Sprintf("%.2f", r.CPUPerGB), requests, bytes, r.Note}
}

// buffers is the share of the set that a system keeps; "" for a DataLoader, which has the page cache alone.
func (r Row) buffers() string {
	if r.Share == 0 || strings.HasPrefix(r.System, "DataLoader") {
		return ""
	}
	return fmt.Sprintf("%.0f %%", 100*r.Share)
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f", v)
}

func (r Result) title() string {
	m := r.Machine
	return fmt.Sprintf("%s, %d cores, %.0f GiB, Linux %s; %s; suite %s", m.CPU, m.Cores, float64(m.Memory)/(1<<30), m.Kernel, r.Date, r.Suite)
}

// groups calls each for every group, in the order in which they were measured.
func (r Result) groups(each func(name string, rows []Row)) {
	for from := 0; from < len(r.Rows); {
		to := from
		for to < len(r.Rows) && r.Rows[to].Group == r.Rows[from].Group {
			to++
		}
		each(r.Rows[from].Group, r.Rows[from:to])
		from = to
	}
}

func printTable(w io.Writer, r Result) {
	fmt.Fprintln(w, r.title())
	r.groups(func(name string, rows []Row) {
		fmt.Fprintf(w, "\n%s (%d samples)\n", name, rows[0].Samples)
		t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
		fmt.Fprintln(t, strings.Join(columns, "\t"))
		for _, row := range rows {
			fmt.Fprintln(t, strings.Join(row.cells(), "\t"))
		}
		t.Flush()
	})
	for _, line := range r.Skipped {
		fmt.Fprintf(w, "\nnot measured: %s\n", line)
	}
}

func printMarkdown(w io.Writer, r Result) {
	fmt.Fprintln(w, r.title())
	r.groups(func(name string, rows []Row) {
		fmt.Fprintf(w, "\n**%s** (%d samples)\n\n| %s |\n%s|\n", name, rows[0].Samples, strings.Join(columns, " | "), strings.Repeat("| --- ", len(columns)))
		for _, row := range rows {
			fmt.Fprintf(w, "| %s |\n", strings.Join(row.cells(), " | "))
		}
	})
	for _, line := range r.Skipped {
		fmt.Fprintf(w, "\nNot measured: %s\n", line)
	}
}

// draw draws each system's ratio to the fastest DataLoader of its group.
func draw(path string, r Result) error {
	bars := report.Ratios{Title: "samples per second over the fastest DataLoader's"}
	r.groups(func(name string, rows []Row) {
		g := report.RatioGroup{Name: name}
		for _, row := range rows {
			if row.OverBest > 0 {
				g.Bars = append(g.Bars, report.RatioBar{Name: row.barName(), Value: row.OverBest, Ours: strings.HasPrefix(row.System, ourSystem)})
			}
		}
		if len(g.Bars) > 0 {
			bars.Groups = append(bars.Groups, g)
		}
	})
	if len(bars.Groups) == 0 {
		return fmt.Errorf("draw %s: no row has a DataLoader to be compared with; measure system loader as well", path)
	}
	var text strings.Builder
	if err := report.WriteRatios(&text, bars); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(text.String()), 0o644)
}

// barName is a system with the share of its buffers.
func (r Row) barName() string {
	if share := r.buffers(); share != "" {
		return r.System + ", " + share
	}
	return r.System
}
