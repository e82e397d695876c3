package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"
)

// planSmall makes 1000 samples of 16 KiB, and gives what runs solarfs plan on them.
func planSmall(t *testing.T) func(args string) (code int, out, errs string) {
	data := filepath.Join(t.TempDir(), "x.h5")
	if out, err := exec.Command(python, "-c", "import sys,h5py,numpy as np\nh5py.File(sys.argv[1],'w')['x']=np.zeros((1000,16384),'u1')", data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return func(args string) (int, string, string) {
		var out, errs bytes.Buffer
		line := append([]string{"solarfs", "plan", "--data", data, "--epochs", "2", "--batch-size", "8"}, strings.Fields(args)...)
		code := run(context.Background(), line, &out, &errs)
		return code, out.String(), errs.String()
	}
}

// A refusal blames the part that is too large, and the size that it names works.
func TestMemoryRefusals(t *testing.T) {
	plans := planSmall(t)
	plan := func(args string) (int, string) {
		code, _, errs := plans(args)
		return code, errs
	}
	for _, c := range []struct{ args, says string }{
		{"--memory 1MiB", "a batch of every rank ("},
		{"--memory 1MiB --buffer 1MiB --window 1MiB", "a batch of every rank ("},
		{"--memory 20MiB --buffer 5MiB", "--buffer 5.0 MiB with a batch"},
		{"--memory 20MiB --window 6MiB", "--window 6.0 MiB and"},
		{"--memory 20MiB --window 2MiB --buffer 3MiB", "--buffer 3.0 MiB with --window 2.0 MiB"},
		{"--memory 20MiB --ranks-per-node 40", "a batch of every rank ("},
		{"--window 1KiB", "--window 1.0 KiB is less than a batch"},
	} {
		code, text := plan(c.args)
		if code != exitUse || !strings.Contains(text, c.says) {
			t.Errorf("%s: exit code %d, %s", c.args, code, text)
			continue
		}
		least := regexp.MustCompile(`at least (--memory|--window) (\d+)B`).FindStringSubmatch(text)
		if least == nil {
			t.Errorf("%s: no size in %s", c.args, text)
			continue
		}
		other := regexp.MustCompile(least[1]+` \S+`).ReplaceAllString(c.args, "")
		if strings.Contains(c.says, "batch of every rank (") {
			other = regexp.MustCompile(`--(buffer|window) \S+`).ReplaceAllString(other, "")
		}
		if code, text := plan(fmt.Sprintf("%s %s %sB", other, least[1], least[2])); code != exitDone {
			t.Errorf("%s: %sB does not work: %s", c.args, least[2], text)
		}
	}
	for _, args := range []string{"--memory 100MiB --buffer 1TiB", "--window 1000TB --buffer 1TiB"} {
		if code, text := plan(args); code != exitDone {
			t.Errorf("%s: exit code %d, %s", args, code, text)
		}
	}
}

// What storage gives decides the split where no flag does.
func TestMemorySplit(t *testing.T) {
	plan := planSmall(t)
	const slow, fast = " --latency 2ms --iops 500 --bandwidth 200MB", " --latency 50us --bandwidth 2GB/s"
	for _, c := range []struct {
		args                   string
		leastBuffer, leastBoth int64
		mostWindow             int64
		source                 string
	}{
		{"--memory 24MiB --epochs 50" + fast, 5 << 20, 13 << 19, 3 << 19, "flags"},
		{"--memory 24MiB --epochs 50" + slow, 0, 13 << 19, 8 << 20, "flags"},
		{"--memory 1GiB" + slow, 1000 << 14, 31 << 20, 17 << 20, "flags"}, // an epoch of batch files, and the set
		{"--memory 24MiB --window 2MiB" + slow, 9 << 19, 13 << 19, 2 << 20, "flags"},
		{"--memory 24MiB --buffer 5MiB" + fast, 5 << 20, 13 << 19, 3 << 20, "flags"},
		{"--memory 24MiB --order sequential" + slow, 5 << 20, 13 << 19, 3 << 19, "flags"},
		{"--memory 24MiB", 0, 13 << 19, 8 << 20, "measured"},
		{"--memory 24MiB --iops 500", 0, 13 << 19, 8 << 20, "flags; the rest: measured"},
	} {
		code, out, errs := plan(c.args + " --json")
		var doc planDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil || code != exitDone {
			t.Errorf("%s: exit code %d, %v, %s", c.args, code, err, errs)
			continue
		}
		m := doc.Memory
		if m.Buffer < c.leastBuffer || m.Window > c.mostWindow || m.Buffer+m.Window < c.leastBoth || m.Buffer+m.Window+m.Stray > m.Limit {
			t.Errorf("%s: %+v", c.args, m)
		}
		if !strings.HasPrefix(doc.Storage.Source, c.source) || doc.EpochSeconds > doc.FirstEpochSeconds || doc.FirstEpochSeconds <= 0 {
			t.Errorf("%s: %+v, %v s and %v s", c.args, doc.Storage, doc.FirstEpochSeconds, doc.EpochSeconds)
		}
	}
	all := func(args string) split {
		_, out, _ := plan(args + " --json")
		var doc planDoc
		if err := json.Unmarshal([]byte(out), &doc); err != nil {
			t.Fatal(err)
		}
		return doc.Memory
	}
	if fast, slow := all("--memory 24MiB --epochs 50"+fast), all("--memory 24MiB --epochs 50"+slow); slow.Window < 3*fast.Window {
		t.Errorf("where requests are dear the window is %d bytes, where cheap %d", slow.Window, fast.Window)
	}
	for args, says := range map[string]string{"--bandwidth fast": "no size per second", "--latency -1ms": "latency", "--iops nan": "IOPS"} {
		if code, _, errs := plan(args); code != exitUse || !strings.Contains(errs, says) {
			t.Errorf("%s: exit code %d, %s", args, code, errs)
		}
	}
	if code, out, errs := plan("--memory 24MiB" + slow); code != exitDone || !strings.Contains(out, "storage per node: 2ms per request, 500 requests/s, 200 MB/s (flags)") {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
}

// Nodes that plan for themselves must all come to the same split: they do not measure.
func TestSpeedWithoutPlanFile(t *testing.T) {
	for args, want := range map[string]speedDoc{
		"":                            {2e-3, 400e6, 0, "guess, since every node plans for itself"},
		"--bandwidth 1GB":             {2e-3, 1e9, 0, "flags; the rest: guess, since every node plans for itself"},
		"--iops 500":                  {0, 400e6, 500, "flags; the rest: guess, since every node plans for itself"},
		"--latency 1s --bandwidth 0B": {1, 0, 0, "flags"},
	} {
		app := &cli.App{Flags: speedFlags(), Action: func(c *cli.Context) error {
			if got, err := speedFromFlags(c, nil, false); got != want || err != nil {
				t.Errorf("%s: %+v, %v", args, got, err)
			}
			return nil
		}}
		if err := app.Run(append([]string{"x"}, strings.Fields(args)...)); err != nil {
			t.Error(err)
		}
	}
}
