package main

import (
	"io"
	"os"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progress shows how far a long command is, on a terminal only.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(to io.Writer, total int) *progress {
	f, ok := to.(*os.File)
	return &progress{progressbar.NewOptions(total,
		progressbar.OptionSetWriter(to),
		progressbar.OptionSetVisibility(ok && term.IsTerminal(int(f.Fd()))),
		progressbar.OptionThrottle(200*time.Millisecond),
		progressbar.OptionShowCount(),
		progressbar.OptionSetPredictTime(true),
		progressbar.OptionClearOnFinish(),
	)}
}

// A bar that cannot be drawn is no reason to fail: errors are dropped.
func (p *progress) add(n int)        { _ = p.bar.Add(n) }
func (p *progress) says(what string) { p.bar.Describe(what) }
func (p *progress) more(n int)       { p.bar.ChangeMax(p.bar.GetMax() + n) }
func (p *progress) done()            { _ = p.bar.Finish() }
