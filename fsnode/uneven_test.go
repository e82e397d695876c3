package fsnode

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/hanwen/go-fuse/v2/fuse"

	"solarfs/cache"
	"solarfs/h5backend"
	"solarfs/planner"
)

// zeros is a source of zeros.
type zeros struct{}

func (zeros) Read(context.Context, []h5backend.Request) {}

// unevenFS is a file system that is not mounted, of a job whose batches differ in
// size, with its plan. spoil may change the digests.
func unevenFS(t *testing.T, log *bytes.Buffer, spoil func(digests []string)) (*FS, []*planner.Epoch) {
	t.Helper()
	spec := planner.Spec{Samples: 500, Nodes: 2, RanksPerNode: 2, BatchSize: 7, Epochs: 3, Order: planner.OrderTorch, BufferSamples: 250, MaxImbalance: .3}
	schedule, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	var plan []*planner.Epoch
	var digests []string
	for ep, ok := schedule.Next(); ok; ep, ok = schedule.Next() {
		plan, digests = append(plan, ep), append(digests, fmt.Sprintf("%x", ep.Digest()))
	}
	spoil(digests)
	fields := []h5backend.Field{{Path: "x", Name: "x", DType: "<f4", Shape: []int{5}, Bytes: 20}, {Path: "y", Name: "y", DType: "<f8", Bytes: 8}}
	data, err := cache.New(cache.Config{
		Spec: spec, Digests: digests, Node: 1, Fields: fields, Ahead: zeros{}, Now: zeros{}, Log: slog.New(slog.DiscardHandler),
		Memory: cache.Split{Window: 4 * cache.StepBytes(spec, fields), Stray: 1 << 16},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { data.Close() })
	f, err := New(Config{Spec: spec, Fields: []string{"x", "y"}, Node: 1, Cache: data, Log: slog.New(slog.NewTextHandler(log, nil))}, false)
	if err != nil {
		t.Fatal(err)
	}
	return f, plan
}

func lookup(f *FS, dir node, name string, cancel <-chan struct{}) (uint64, fuse.Status) {
	var out fuse.EntryOut
	status := f.Lookup(cancel, &fuse.InHeader{NodeId: f.tree.number(dir)}, name, &out)
	return out.Size, status
}

// Each batch file has the size of its own rows, before anything is read, in any
// order of asking; the arrays beside them say the same.
func TestUnevenSizes(t *testing.T) {
	var log bytes.Buffer
	f, plan := unevenFS(t, &log, func([]string) {})
	spec, sizes := f.cfg.Spec, map[uint64]bool{}
	for _, epoch := range []int{2, 0, 1} {
		for rank := 2; rank < 4; rank++ {
			dir := node{kind: kindRank, epoch: epoch, rank: rank}
			for i := range f.tree.entries(dir) {
				n := f.tree.entry(dir, i)
				got, status := lookup(f, dir, f.tree.name(n), nil)
				want := uint64(samplesLayout(spec).Size())
				switch n.kind {
				case kindWeights:
					want = uint64(weightsLayout(spec).Size())
				case kindBatch:
					want = uint64(128 + plan[epoch].Rows(n.step, rank)*[]int{20, 8}[n.column])
					sizes[got] = true
				}
				if got != want || status != fuse.OK {
					t.Fatalf("%+v: %d bytes (%v), not %d", n, got, status, want)
				}
			}
			checkArrays(t, f, plan[epoch], dir)
		}
	}
	if len(sizes) < 4 || log.Len() > 0 {
		t.Errorf("sizes %v; %s", sizes, &log)
	}
}

// checkArrays compares samples.npy and weights.npy with the plan.
func checkArrays(t *testing.T, f *FS, ep *planner.Epoch, dir node) {
	t.Helper()
	const columns = 9 // 7 x 1.3
	var arrays [2][]byte
	for i, kind := range []kind{kindSamples, kindWeights} {
		n := dir
		n.kind = kind
		c, err := f.array(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		res, err := c.read(t.Context(), make([]byte, 1<<16), 0)
		if err != nil {
			t.Fatal(err)
		}
		all, _ := res.Bytes(nil)
		arrays[i] = all[128:]
	}
	for step := range f.cfg.Spec.Steps() {
		samples, _ := ep.Batch(step, dir.rank)
		for i := range columns {
			want := int64(-1)
			if i < len(samples) {
				want = int64(samples[i])
			}
			if got := int64(binary.LittleEndian.Uint64(arrays[0][8*(step*columns+i):])); got != want {
				t.Fatalf("step %d, row %d: sample %d, not %d", step, i, got, want)
			}
		}
		want := float64(len(samples)) / float64(f.cfg.Spec.Rows(step))
		if got := math.Float64frombits(binary.LittleEndian.Uint64(arrays[1][8*step:])); got != want {
			t.Fatalf("step %d: weight %v, not %v", step, got, want)
		}
	}
}

// A plan that cannot be followed costs an error and a line in the log; who has
// left, neither.
func TestUnevenSizesFail(t *testing.T) {
	var log bytes.Buffer
	f, _ := unevenFS(t, &log, func(digests []string) { digests[1] = digests[0] })
	dir := node{kind: kindRank, epoch: 2, rank: 3}
	gone := make(chan struct{})
	close(gone)
	for _, c := range []struct {
		name   string
		cancel chan struct{}
		want   fuse.Status
		logged bool
	}{{"batch-000000.x.npy", gone, fuse.EINTR, false}, {"batch-000000.x.npy", nil, fuse.EIO, true}, {"samples.npy", nil, fuse.OK, false}} {
		log.Reset()
		if _, got := lookup(f, dir, c.name, c.cancel); got != c.want {
			t.Errorf("%s: %v, not %v", c.name, got, c.want)
		}
		if strings.Contains(log.String(), "plans differently") != c.logged {
			t.Errorf("%s: the log says %q", c.name, &log)
		}
	}
}
