package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A refusal blames the part that is too large, and the size that it names works.
func TestMemoryRefusals(t *testing.T) {
	data := filepath.Join(t.TempDir(), "x.h5")
	if out, err := exec.Command(python, "-c", "import sys,h5py,numpy as np\nh5py.File(sys.argv[1],'w')['x']=np.zeros((1000,16384),'u1')", data).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	plan := func(args string) (int, string) {
		var out, errs bytes.Buffer
		line := append([]string{"solarfs", "plan", "--data", data, "--epochs", "2", "--batch-size", "8"}, strings.Fields(args)...)
		return run(context.Background(), line, &out, &errs), errs.String()
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
