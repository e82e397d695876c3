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
	"solarfs/internal/histogram"
)

// statusDoc is .solarfs/status.json.
type statusDoc struct {
	Ready bool `json:"ready"`
	PID   int  `json:"pid"`
	Node  int  `json:"node"`

	EpochCount    int `json:"epochs"`
	StepsPerEpoch int `json:"steps_per_epoch"`
	cache.Status
	StorageReads   int64      `json:"storage_reads"`
	BytesRead      int64      `json:"bytes_read"`
	StorageRetries int64      `json:"storage_retries"` // reads that were done again after a failure
	StorageFailed  int64      `json:"storage_failed"`  // values of one field and sample that could not be read
	Latency        latency    `json:"latency"`
	Reading        readingDoc `json:"reading"`
	Serving        string     `json:"serving"`
	HTTP           string     `json:"http,omitempty"` // where metrics are served

	storageTimes histogram.Counts
}

// latency is of the storage's reads, in seconds.
type latency struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// status is what the mount has done so far.
func (m *mounting) status() statusDoc {
	s := m.job.set.Stats()
	doc := statusDoc{
		Ready: true, PID: os.Getpid(), Node: m.node, Status: m.data.Status(), Serving: m.tree.Serving(),
		EpochCount: m.job.plan.Epochs, StepsPerEpoch: m.job.plan.StepsPerEpoch,
		StorageReads: s.Reads, BytesRead: s.Bytes, StorageRetries: s.Retries, StorageFailed: s.Failed,
		Latency: latency{P50: s.Latency.Quantile(.5).Seconds(), P99: s.Latency.Quantile(.99).Seconds()},
		Reading: newReadingDoc(m.readers.ahead), storageTimes: s.Latency,
	}
	if m.listener != nil {
		doc.HTTP = m.listener.Addr().String()
	}
	return doc
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:      "status",
		Usage:     "how far each rank of a mount is; hits, loads, what was waited for, memory",
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
		fmt.Fprintf(w, "rank %d: %s\n", r.Rank, s.progress(r))
	}
	fmt.Fprintf(w, "hits %d, loads %d; %s, %s read, %s served (%s)\n", s.Hits, s.Loads,
		count(int(s.StorageReads), "storage read"), bytesText(s.BytesRead), bytesText(s.BytesServed), s.Serving)
	if s.Riders+s.RidersMissed > 0 {
		fmt.Fprintf(w, "%d of the loads rode along with a chunk that was read anyway; %d more found no room, or could not be read\n", s.Riders, s.RidersMissed)
	}
	fmt.Fprintf(w, "ranks waited %.2f s in all; %s read out of order\n", s.StallSeconds, count(int(s.Strays), "batch"))
	fmt.Fprintf(w, "memory: buffer %s, batches %s of a window of %s, limit %s\n",
		bytesText(s.Memory.Buffer), bytesText(s.Memory.Batches), bytesText(s.Memory.Window), bytesText(s.Memory.Limit))
	if s.StorageReads > 0 {
		fmt.Fprintf(w, "storage latency: half below %s, 99 %% below %s\n", humanize.SIWithDigits(s.Latency.P50, 1, "s"), humanize.SIWithDigits(s.Latency.P99, 1, "s"))
	}
	s.Reading.print(w)
	if s.HTTP != "" {
		fmt.Fprintf(w, "metrics: http://%s/metrics\n", s.HTTP)
	}
	for _, e := range s.Errors {
		fmt.Fprintln(w, "error:", e)
	}
}

// progress is how far a rank is, counted from 1.
func (s *statusDoc) progress(r cache.RankStatus) string {
	if r.Epoch == 0 && r.Step < 0 {
		return "nothing read yet"
	}
	return fmt.Sprintf("epoch %d of %d, step %d of %d", r.Epoch+1, s.EpochCount, r.Step+1, s.StepsPerEpoch)
}
