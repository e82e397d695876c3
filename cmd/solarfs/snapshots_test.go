package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"solarfs/h5backend"
	"solarfs/planner"
)

func TestSpacing(t *testing.T) {
	rule := spacing{replay: 1000, bytes: 1 << 20}
	for _, c := range []struct{ samples, epochs, nodes, want int }{
		{100, 10, 4, 0},   // all are 1000 samples
		{100, 11, 4, 10},  // a tenth of which is an epoch
		{1000, 50, 4, 1},  //
		{5000, 50, 4, 1},  // an epoch is more than may be replayed
		{1e6, 50, 15, 24}, // 4 bits a sample: 24 MiB for all epochs
	} {
		spec := planner.Spec{Samples: c.samples, Epochs: c.epochs, Nodes: c.nodes}
		if got := rule.every(spec); got != c.want {
			t.Errorf("%+v: every %d epochs", c, got)
		}
	}
}

// snapshotPlan writes a plan file with a snapshot before every third epoch.
func snapshotPlan(t *testing.T) (path string, spec planner.Spec) {
	t.Helper()
	spec = planner.Spec{Samples: 500, Nodes: 3, RanksPerNode: 1, BatchSize: 4, Epochs: 10, Order: planner.OrderTorch, BufferSamples: 80, ChunkSamples: []int{1}}
	snaps := snapshots{every: 3}
	report, err := planner.MakeReport(spec, func(_ *planner.Epoch, next *planner.Schedule) { snaps.take(spec, next) })
	if err != nil || snaps.err != nil || len(snaps.docs) != 3 {
		t.Fatal(err, snaps.err, snaps.docs)
	}
	d := planDoc{Report: report, Spec: spec, Memory: split{Limit: 100, Buffer: 50}, Files: []h5backend.FileInfo{{Path: "/x.h5"}}, Snapshots: snaps.docs}
	path = filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(path, append(d.json(), snaps.data...), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, spec
}

func TestSnapshotsInPlanFile(t *testing.T) {
	path, _ := snapshotPlan(t)
	d, file, base, err := openPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for epoch, want := range []int{-1, -1, -1, 3, 3, 3, 6, 6, 6, 9} {
		s, err := d.resume(file, base, epoch)
		if err != nil || (s == nil) != (want < 0) || s != nil && s.Epoch() != want {
			t.Fatalf("epoch %d: %v", epoch, err)
		}
		if s == nil {
			continue
		}
		if e, _ := s.Next(); fmt.Sprintf("%x", e.Digest()) != d.Digests[want] {
			t.Errorf("epoch %d, resumed at %d, is another", want, want)
		}
	}
}

// A plan file that is cut or longer is refused; whatever else is damaged in a snapshot, it is not used.
func TestDamagedSnapshots(t *testing.T) {
	path, _ := snapshotPlan(t)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{whole[:len(whole)-1], append(slices.Clone(whole), 0), whole[:bytes.LastIndexByte(whole, '}')+1]} {
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := readPlan(path); err == nil {
			t.Errorf("a plan file of %d bytes for %d is read", len(bad), len(whole))
		}
	}
	d, base, refused := &planDoc{}, int64(0), 0
	for at := len(whole) - 1; ; at-- {
		bad := slices.Clone(whole)
		bad[at] ^= 0x40
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		var file *os.File
		if d, file, base, err = openPlan(path); err != nil {
			t.Fatal(err)
		}
		if int64(at) < base+d.Snapshots[2].Offset {
			file.Close()
			break
		}
		s, err := d.resume(file, base, 9)
		file.Close()
		if err != nil {
			refused++
			continue
		}
		if e, _ := s.Next(); fmt.Sprintf("%x", e.Digest()) != d.Digests[9] {
			t.Errorf("with byte %d damaged another epoch is planned", at)
		}
	}
	if n := int(d.Snapshots[2].Bytes); refused < n/2 {
		t.Errorf("%d of %d damages were noticed", refused, n)
	}
}

// Where no snapshot helps, the schedule that the check of the plan has begun is used, once.
func TestResumer(t *testing.T) {
	path, spec := snapshotPlan(t)
	d, file, base, err := openPlan(path)
	if err != nil {
		t.Fatal(err)
	}
	begun, err := planner.NewSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	j := &job{plan: *d, file: file, base: base}
	j.begun.Store(begun)
	var log bytes.Buffer
	resume := j.resumer(slog.New(slog.NewTextHandler(&log, nil)))
	if s := resume(7); s == nil || s.Epoch() != 6 {
		t.Errorf("epoch 7: %v", s)
	}
	if s := resume(2); s != begun {
		t.Errorf("epoch 2: %v, want what was begun", s)
	}
	if s := resume(2); s != nil {
		t.Errorf("epoch 2 once more: %v", s)
	}
	file.Close()
	if s := resume(7); s != nil || !bytes.Contains(log.Bytes(), []byte("a snapshot in the plan file is damaged")) {
		t.Errorf("epoch 7 from a file that cannot be read: %v, %s", s, &log)
	}
}
