package main

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/storage"
)

// auto is what a reading flag says where the mount's own reads decide.
const auto = "auto"

// readingFlags say how a mount reads.
func readingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "read-gap", Value: auto, Usage: "`SIZE` of what is read over between two samples or chunks to save a request, 1MiB at most (auto: as the mount's own reads show)", EnvVars: env("read-gap")},
		&cli.StringFlag{Name: "io-depth", Value: auto, Usage: "`N` reads ahead under way at once (auto: as many as the mount's own reads gain by, from 16 on)", EnvVars: env("io-depth")},
	}
}

// readers are a mount's two: ahead reads what the plan wants next, now what somebody waits for.
type readers struct{ ahead, now *h5backend.Reader }

// askedReading is what the flags fix: gap in bytes and depth, h5backend.Auto where they do not.
func askedReading(c *cli.Context) (o h5backend.ReaderOptions, err error) {
	o.Gap = h5backend.Auto
	if text := c.String("read-gap"); text != auto {
		if o.Gap, err = parseSize("read-gap", text); err != nil {
			return o, err
		}
		if o.Gap > storage.MaxGap {
			return o, wrongUse("--read-gap %s is more than one read may have; give at most %s", text, bytesText(storage.MaxGap))
		}
	}
	o.Depth, err = askedDepth(c)
	return o, err
}

// askedDepth is what --io-depth fixes; h5backend.Auto if nothing.
func askedDepth(c *cli.Context) (int, error) {
	text := c.String("io-depth")
	if text == auto {
		return h5backend.Auto, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, wrongUse("--io-depth %q is no number of reads; give at least 1, or auto", text)
	}
	return n, nil
}

// newReaders makes them as the flags say. The memory of both has been set aside for the largest depth.
func newReaders(asked h5backend.ReaderOptions, plan *planDoc, set *h5backend.Set) (readers, error) {
	o := asked
	o.Model, o.MaxDepth = plan.Storage.modelFor(plan.Spec), largestDepth(plan.Memory.Limit, set)
	if o.Depth > o.MaxDepth {
		return readers{}, wrongUse("--io-depth %d is more than the plan's memory is divided for; give at most %d, or more --memory and at most %d", o.Depth, o.MaxDepth, storage.MaxDepth)
	}
	if manyTimes := int64(10); available()-plan.Memory.Limit < fileBytes(plan)/manyTimes {
		set.DropBehind()
	}
	now := o
	now.Depth = nowDepth
	return readers{set.NewReader(o), set.NewReader(now)}, nil
}

func fileBytes(plan *planDoc) (n int64) {
	for _, f := range plan.Files {
		n += f.Size
	}
	return n
}

// readingDoc is how the mount reads ahead, and what it has learnt of the storage by that.
type readingDoc struct {
	Gap       int64   `json:"gap"`                 // bytes that are read over
	Depth     int     `json:"depth"`               // reads under way at once
	Rate      float64 `json:"requests_per_second"` // 0: no limit is known
	Bandwidth float64 `json:"bandwidth"`           // bytes a second; 0: no limit is known
}

func newReadingDoc(r *h5backend.Reader) readingDoc {
	s := r.Speed()
	return readingDoc{r.Gap(), r.Depth(), known(s.Rate), known(s.Bandwidth)}
}

// known is x, where infinity, which JSON does not have, is 0.
func known(x float64) float64 {
	if math.IsInf(x, 1) {
		return 0
	}
	return x
}

func (r readingDoc) print(w io.Writer) {
	fmt.Fprintf(w, "reading ahead: %d at once, over gaps of up to %s", r.Depth, bytesText(r.Gap))
	if r.Rate > 0 {
		fmt.Fprintf(w, "; storage gives %s requests/s", humanize.CommafWithDigits(r.Rate, 0))
	}
	if r.Bandwidth > 0 {
		fmt.Fprintf(w, "; %s/s", humanize.Bytes(uint64(r.Bandwidth)))
	}
	fmt.Fprintln(w)
}
