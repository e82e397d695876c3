package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"solarfs/planner"
)

// A real mount that is read from a late epoch on has that epoch's plan, whether the snapshot before it can be used or not.
func TestMountReadLate(t *testing.T) {
	old := resumeRule
	defer func() { resumeRule = old }()
	resumeRule = spacing{replay: 1500, bytes: 1 << 20}

	dir := t.TempDir()
	data, plan := filepath.Join(dir, "x.h5"), filepath.Join(dir, "plan")
	const script = "import sys,h5py,numpy as np\nh5py.File(sys.argv[1],'w')['x']=np.arange(500,dtype='<u4')*3"
	if out, err := exec.Command(python, "-c", script, data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var out, errs bytes.Buffer
	line := []string{"solarfs", "plan", "--data", data, "--epochs", "40", "--batch-size", "10", "--nodes", "2", "--buffer", "400B", "--window", "80KiB", "-o", plan}
	if code := run(t.Context(), line, &out, &errs); code != exitDone || !strings.Contains(out.String(), "holds 13 snapshots") {
		t.Fatalf("exit code %d\n%s%s", code, &out, &errs)
	}
	whole, err := os.ReadFile(plan)
	if err != nil {
		t.Fatal(err)
	}
	if log := readLate(t, plan); strings.Contains(log, "level=WARN") {
		t.Errorf("the log of a plan that is whole:\n%s", log)
	}
	d, err := readPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	from := len(whole) - int(d.Snapshots[12].Offset+d.Snapshots[12].Bytes)
	for i := from + int(d.Snapshots[11].Offset) + 8; i < len(whole); i++ { // those of epochs 36 and 39
		whole[i] ^= 0x55
	}
	if err := os.WriteFile(plan, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if log := readLate(t, plan); !strings.Contains(log, "a snapshot in the plan file is damaged; the plan is made from its start") {
		t.Errorf("the log of a plan whose snapshots are damaged:\n%s", log)
	}
}

// readLate mounts node 1 of a plan, reads its epoch 37 and returns the log.
func readLate(t *testing.T, plan string) string {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	point, ready, log := t.TempDir(), filepath.Join(t.TempDir(), "ready"), filepath.Join(t.TempDir(), "log")
	var out, errs bytes.Buffer
	ended := make(chan int)
	go func() {
		ended <- run(ctx, []string{"solarfs", "mount", "--plan", plan, "--node", "1", "--ready-file", ready, "--log-file", log, point}, &out, &errs)
	}()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(ready); err == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("no mount\n%s", &errs)
		}
	}
	compareEpoch(t, plan, filepath.Join(point, "epoch-0037", "rank-0001"), 37)
	stop()
	if code := <-ended; code != exitDone {
		t.Errorf("exit code %d\n%s", code, &errs)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// compareEpoch compares all batches of node 1 with what planning all epochs gives.
func compareEpoch(t *testing.T, plan, dir string, epoch int) {
	t.Helper()
	d, err := readPlan(plan)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := planner.NewSchedule(d.Spec)
	if err != nil {
		t.Fatal(err)
	}
	for range epoch {
		schedule.Next()
	}
	want, _ := schedule.Next()
	for step := range d.Spec.Steps() {
		samples, _ := want.Batch(step, 1)
		var values []byte
		for _, sample := range samples {
			values = binary.LittleEndian.AppendUint32(values, 3*sample)
		}
		name := filepath.Join(dir, fmt.Sprintf("batch-%06d.x.npy", step))
		if got, err := os.ReadFile(name); err != nil || !bytes.HasSuffix(got, values) {
			t.Fatalf("%s: %v, other bytes than planned", name, err)
		}
	}
}
