package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What is wrong in a config file is said before anything is opened.
func TestConfigErrors(t *testing.T) {
	for _, c := range []struct{ yaml, says string }{
		{"epochs: [", "--config"},
		{"epoch: 3", `"epoch" is no flag`},
		{"epochs: many", "epochs"},
		{"config: other.yaml", `"config" is no flag`},
		{"o: direct_io", `"o" is no flag`},
		{"log-file: mount's\nepochs: 0", "--data"},
	} {
		path := filepath.Join(t.TempDir(), "job.yaml")
		if err := os.WriteFile(path, []byte(c.yaml), 0o644); err != nil {
			t.Fatal(err)
		}
		var out, errs bytes.Buffer
		code := run(context.Background(), []string{"solarfs", "plan", "--config", path}, &out, &errs)
		if code != exitUse || !strings.Contains(errs.String(), c.says) {
			t.Errorf("%q: exit code %d, %s", c.yaml, code, errs.String())
		}
	}
}
