package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
	"solarfs/planner"
)

// openJob opens the plan file at path and its data, and refuses what does not
// fit together: file, flags, data, and this program.
func openJob(c *cli.Context, path string) (*job, error) {
	doc, file, base, err := openPlan(path)
	if err != nil {
		return nil, err
	}
	j, err := doc.open(c, path)
	if err != nil {
		file.Close()
		return nil, err
	}
	j.file, j.base = file, base
	return j, nil
}

// open opens the plan's data and checks that all fits.
func (doc *planDoc) open(c *cli.Context, path string) (*job, error) {
	files, err := h5backend.Resolve(doc.paths())
	if err == nil && !slices.Equal(files, doc.paths()) {
		err = errors.New("its files are not listed as solarfs plan lists them")
	}
	if err != nil {
		return nil, mismatch("the plan %s does not fit its data: %w", path, err)
	}
	set, err := h5backend.Open(files, doc.FieldArgs)
	if err != nil {
		return nil, mismatch("the plan %s does not fit its data: %w", path, err)
	}
	j := &job{plan: *doc, set: set}
	if err := j.usable(c, path); err != nil {
		set.Close()
		return nil, err
	}
	return j, nil
}

// usable compares the plan with its data, its memory, the flags beside it, and
// what this program would plan.
func (j *job) usable(c *cli.Context, path string) error {
	d, set := &j.plan, j.set
	if err := d.fits(set); err != nil {
		return mismatch("the plan %s does not fit its data: %w; make the plan anew", path, err)
	}
	if err := d.repeated(c, set, path); err != nil {
		return err
	}
	_, err := d.Memory.divide(d.Spec, set, d.Storage)
	if err == nil && (d.Memory.Stray < strayBytes(set) || int64(d.Spec.BufferSamples) > d.Memory.Buffer/sampleBytes(set)) {
		err = errors.New("its memory is divided otherwise")
	}
	if err != nil {
		return mismatch("the plan %s cannot be mounted by this version of solarfs: %w; make the plan anew", path, err)
	}
	schedule, err := planner.NewSchedule(d.Spec)
	if err != nil {
		return err
	}
	if first, _ := schedule.Peek(); fmt.Sprintf("%x", first.Digest()) != d.Digests[0] {
		return mismatch("this version of solarfs plans differently from the one that made the plan %s; make the plan anew", path)
	}
	j.begun.Store(schedule)
	return nil
}

// repeated compares the flags that a plan settles, wherever they were set, with
// what it says: to repeat them is fine.
func (d *planDoc) repeated(c *cli.Context, set *h5backend.Set, path string) error {
	asked, err := sizes(c)
	if err != nil {
		return err
	}
	asked = asked.capped(d.Spec, set)
	speed, err := givenSpeed(c)
	if err != nil {
		return err
	}
	s := d.Spec
	for _, f := range []struct{ flag, given, planned string }{
		{"epochs", strconv.Itoa(c.Int("epochs")), strconv.Itoa(s.Epochs)},
		{"batch-size", strconv.Itoa(c.Int("batch-size")), strconv.Itoa(s.BatchSize)},
		{"nodes", strconv.Itoa(c.Int("nodes")), strconv.Itoa(s.Nodes)},
		{"ranks-per-node", strconv.Itoa(c.Int("ranks-per-node")), strconv.Itoa(s.RanksPerNode)},
		{"seed", fmt.Sprint(c.Int64("seed")), fmt.Sprint(s.Seed)},
		{"order", c.String("order"), s.Order},
		{"strategy", c.String("strategy"), cmp.Or(s.Strategy, planner.Balanced)},
		{"max-imbalance", fmt.Sprint(c.Float64("max-imbalance")), fmt.Sprint(s.MaxImbalance)},
		{"drop-last", fmt.Sprint(c.Bool("drop-last")), fmt.Sprint(s.DropLast)},
		{"field", fmt.Sprint(c.StringSlice("field")), fmt.Sprint(d.FieldArgs)},
		{"memory", fmt.Sprint(asked.Limit, " bytes"), fmt.Sprint(d.Memory.Limit, " bytes")},
		{"buffer", fmt.Sprint(asked.Buffer, " bytes"), fmt.Sprint(d.Memory.Buffer, " bytes")},
		{"window", fmt.Sprint(asked.Window, " bytes"), fmt.Sprint(d.Memory.Window, " bytes")},
		{"latency", fmt.Sprint(speed.Latency, " s"), fmt.Sprint(d.Storage.Latency, " s")},
		{"bandwidth", fmt.Sprint(speed.Bandwidth, " bytes/s"), fmt.Sprint(d.Storage.Bandwidth, " bytes/s")},
		{"iops", fmt.Sprint(speed.IOPS), fmt.Sprint(d.Storage.IOPS)},
	} {
		if c.IsSet(f.flag) && f.given != f.planned {
			return mismatch("%s is %s, but the plan %s is for %s; leave it out, or make a plan for the job as it is", source(c, f.flag), f.given, path, f.planned)
		}
	}
	if !c.IsSet("data") {
		return nil
	}
	files, err := h5backend.Resolve(c.StringSlice("data"))
	if err == nil && !slices.Equal(files, d.paths()) {
		err = mismatch("%s is %v, but the plan %s is for %v; leave it out, or make a plan for the job as it is", source(c, "data"), files, path, d.paths())
	}
	return err
}

func (d *planDoc) paths() (paths []string) {
	for _, f := range d.Files {
		paths = append(paths, f.Path)
	}
	return paths
}

// openPlan opens a plan file and reads its document, which ends at base; behind it stand snapshots.
func openPlan(path string) (d *planDoc, file *os.File, base int64, err error) {
	file, err = os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, 0, wrongUse("--plan %s: there is no such file; make it with solarfs plan -o", path)
	}
	if err != nil {
		return nil, nil, 0, wrongUse("--plan: %w", err)
	}
	if d, base, err = readDocument(file); err != nil {
		file.Close()
		return nil, nil, 0, wrongUse("--plan %s is not a whole plan file (%w); make it anew with solarfs plan -o", path, err)
	}
	return d, file, base, nil
}

// readDocument reads a plan file's document, and checks that the file ends where the last snapshot does.
func readDocument(file *os.File) (*planDoc, int64, error) {
	decoder := json.NewDecoder(file)
	var text json.RawMessage
	if err := decoder.Decode(&text); err != nil {
		return nil, 0, err
	}
	d, err := parsePlan(text)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	base, end := decoder.InputOffset()+1, decoder.InputOffset()+1 // a line ends
	for _, s := range d.Snapshots {
		end = max(end, base+s.Offset+s.Bytes)
	}
	if info.Mode().IsRegular() && info.Size() != end && (len(d.Snapshots) > 0 || info.Size() != base-1) {
		return nil, 0, fmt.Errorf("it has %d bytes where %d are said", info.Size(), end)
	}
	return d, base, nil
}

// readPlan reads a plan file's document.
func readPlan(path string) (*planDoc, error) {
	d, file, _, err := openPlan(path)
	if err != nil {
		return nil, err
	}
	return d, file.Close()
}

// parsePlan reads a plan file and checks all of it that can be checked without
// its data.
func parsePlan(text []byte) (*planDoc, error) {
	var d planDoc
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, err
	}
	if err := d.Spec.Validate(); err != nil {
		return nil, err
	}
	digest, err := planner.DigestOf(d.Digests)
	if err != nil {
		return nil, err
	}
	s, r, m := d.Spec, d.Report, d.Memory
	for _, rule := range []struct {
		what  string
		holds bool
	}{
		{"samples", r.Samples == s.Samples},
		{"epochs", r.Epochs == s.Epochs},
		{"steps_per_epoch", r.StepsPerEpoch == s.Steps()},
		{"nodes", r.Nodes == s.Nodes},
		{"ranks", r.Ranks == s.Ranks()},
		{"batch_size", r.BatchSize == s.BatchSize},
		{"strategy", r.Strategy == cmp.Or(s.Strategy, planner.Balanced) && planner.Mountable(s.Strategy)},
		{"buffer_samples", r.BufferSamples == s.BufferSamples && s.BufferSamples <= s.Samples},
		{"digests", len(d.Digests) == s.Epochs},
		{"digest", digest == d.Digest},
		{"memory", min(m.Limit, m.Buffer, m.Window, m.Stray) >= 0 && max(m.Limit, m.Buffer, m.Window, m.Stray) <= maxSize},
		{"storage", d.Storage.model().Validate() == nil},
		{"files", len(d.Files) > 0},
	} {
		if !rule.holds {
			return nil, fmt.Errorf("its %s cannot be right", rule.what)
		}
	}
	return &d, nil
}

// fits says how the data differ from what was planned.
func (d *planDoc) fits(set *h5backend.Set) error {
	if got := set.Samples(); got != d.Spec.Samples {
		return fmt.Errorf("%d samples where %d were planned", got, d.Spec.Samples)
	}
	if got := fieldDocs(set); !reflect.DeepEqual(got, d.Fields) {
		return fmt.Errorf("fields %s where %s were planned", joined(got), joined(d.Fields))
	}
	if got := sampleBytes(set); got != d.SampleBytes {
		return fmt.Errorf("samples of %d bytes where %d were planned", got, d.SampleBytes)
	}
	if got := set.ChunkSamples(); !slices.Equal(got, d.Spec.ChunkSamples) {
		return fmt.Errorf("chunks of %v samples where %v were planned", got, d.Spec.ChunkSamples)
	}
	for i, now := range set.Files() {
		switch was := d.Files[i]; {
		case now.Size != was.Size:
			return fmt.Errorf("%s has changed since (%d bytes, was %d)", now.Path, now.Size, was.Size)
		case now.ModTime != was.ModTime:
			return fmt.Errorf("%s has changed since (modified %s, was %s)", now.Path, timeText(now.ModTime), timeText(was.ModTime))
		case now != was:
			return fmt.Errorf("%s has %d samples where %d were planned", now.Path, now.Samples, was.Samples)
		}
	}
	return nil
}

func timeText(nanos int64) string { return time.Unix(0, nanos).UTC().Format(time.RFC3339Nano) }
