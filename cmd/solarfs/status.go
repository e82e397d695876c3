package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/h5backend"
)

// statusDoc is .solarfs/status.json.
type statusDoc struct {
	Ready bool `json:"ready"`
	PID   int  `json:"pid"`
	Node  int  `json:"node"`
	cache.Status
	StorageReads int64   `json:"storage_reads"`
	BytesRead    int64   `json:"bytes_read"`
	Latency      latency `json:"latency"`
	Serving      string  `json:"serving"`
}

// latency is of the storage's reads, in seconds.
type latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

func newStatusDoc(node int, serving string, c *cache.Cache, set *h5backend.Set) statusDoc {
	s := set.Stats()
	return statusDoc{
		Ready: true, PID: os.Getpid(), Node: node, Status: c.Status(), Serving: serving,
		StorageReads: s.Reads, BytesRead: s.Bytes,
		Latency: latency{P50: s.Latency.Quantile(.5).Seconds(), P99: s.Latency.Quantile(.99).Seconds()},
	}
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "how far each rank of a mount is; hits, loads, stalls, memory",
		UsageText: "solarfs status [--json] DIR\n\nExample: solarfs status /mnt/solar",
		Flags:     []cli.Flag{configFlag(), &cli.BoolFlag{Name: "json", Usage: "print one JSON object", EnvVars: env("json")}},
		Action:    statusAction,
	}
}

func statusAction(c *cli.Context) error {
	dir, err := oneDir(c)
	if err != nil {
		return err
	}
	s, err := readStatus(dir)
	switch {
	case errors.Is(err, syscall.ENOTCONN):
		return badPoint("the daemon of %s has died; solarfs mount on it again repairs the mount", dir)
	case errors.Is(err, fs.ErrNotExist):
		return badPoint("no solarfs is mounted on %s", dir)
	case err != nil:
		return badPoint("status of %s: %w", dir, err)
	}
	if c.Bool("json") {
		text, err := os.ReadFile(filepath.Join(dir, ".solarfs", "status.json"))
		if err != nil {
			return err
		}
		_, err = c.App.Writer.Write(text)
		return err
	}
	printStatus(c.App.Writer, s)
	return nil
}

func printStatus(w io.Writer, s statusDoc) {
	for _, r := range s.Ranks {
		fmt.Fprintf(w, "rank %d: epoch %d, step %d\n", r.Rank, r.Epoch, r.Step)
	}
	size := func(n int64) string { return humanize.IBytes(uint64(n)) }
	fmt.Fprintf(w, "hits %d, loads %d; %d storage reads, %s read, %s served (%s)\n", s.Hits, s.Loads, s.StorageReads, size(s.BytesRead), size(s.BytesServed), s.Serving)
	fmt.Fprintf(w, "readers waited %.2f s; %d batches were read out of order\n", s.StallSeconds, s.Strays)
	fmt.Fprintf(w, "memory: buffer %s, batches %s of a window of %s, limit %s\n", size(s.Memory.Buffer), size(s.Memory.Batches), size(s.Memory.Window), size(s.Memory.Limit))
	fmt.Fprintf(w, "storage latency: median %.3g s, 99 %% below %.3g s\n", s.Latency.P50, s.Latency.P99)
	for _, e := range s.Errors {
		fmt.Fprintln(w, "error:", e)
	}
}
