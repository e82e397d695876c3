package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// object is a part of a plan file.
type object = map[string]any

// A damaged plan file is refused with one line, whatever is wrong in it.
func TestPlanFileDamaged(t *testing.T) {
	data := makeData(t, "chunk4", 60, 2)
	dir, point := t.TempDir(), t.TempDir()
	whole := filepath.Join(dir, "whole")
	solarfs(t, "plan", "--data", data[0], "--data", data[1], "--epochs", "3", "--batch-size", "4", "--buffer", "2KB", "--window", "20KB", "-o", whole)
	text, err := os.ReadFile(whole)
	if err != nil {
		t.Fatal(err)
	}
	within := func(part string, name string, value any) func(object) {
		return func(o object) { o[part].(object)[name] = value }
	}
	both := func(name, inSpec string, value any) func(object) {
		return func(o object) { o[name], o["spec"].(object)[inSpec] = value, value }
	}
	for name, damage := range map[string]func(object){
		"samples":            func(o object) { o["samples"] = 61 },
		"both samples":       both("samples", "samples", 61),
		"epochs":             func(o object) { o["epochs"] = 2 },
		"both epochs":        both("epochs", "epochs", 2),
		"epochs and digests": func(o object) { both("epochs", "epochs", 2)(o); o["digests"] = o["digests"].([]any)[:2] },
		"steps":              func(o object) { o["steps_per_epoch"] = 1 << 50 },
		"nodes":              func(o object) { o["nodes"] = 2 },
		"negative ranks":     within("spec", "ranks_per_node", -1),
		"batch size":         both("batch_size", "batch_size", 8),
		"seed":               within("spec", "seed", 1),
		"order":              within("spec", "order", "random"),
		"other order":        within("spec", "order", "sequential"),
		"strategy":           func(o object) { o["strategy"] = "lru" },
		"both strategies":    both("strategy", "strategy", "lru"),
		"peers' strategy":    both("strategy", "strategy", "nopfs"),
		"imbalance":          within("spec", "max_imbalance", .5),
		"no imbalance":       within("spec", "max_imbalance", 1),
		"chunk":              within("spec", "chunk", 3),
		"chunks":             within("spec", "chunk_samples", []int{4, 4}),
		"zero chunks":        within("spec", "chunk_samples", []int{0, 4, 4}),
		"buffer samples":     both("buffer_samples_per_node", "buffer_samples", 1<<40),
		"more than buffer":   both("buffer_samples_per_node", "buffer_samples", 60),
		"sample bytes":       func(o object) { o["sample_bytes"] = 1 },
		"fields":             func(o object) { o["fields"] = o["fields"].([]any)[:2] },
		"field names":        func(o object) { o["field_args"] = []string{"x", "nope"} },
		"no window":          within("memory", "window", 0),
		"huge window":        within("memory", "window", int64(1)<<59),
		"negative window":    within("memory", "window", -1),
		"overflow":           within("memory", "buffer", json.Number("9223372036854775807")),
		"beyond int64":       within("memory", "limit", json.Number("9223372036854775808")),
		"no limit":           within("memory", "limit", 0),
		"no stray":           within("memory", "stray", 0),
		"memory gone":        func(o object) { delete(o, "memory") },
		"spec gone":          func(o object) { delete(o, "spec") },
		"digest":             func(o object) { o["digest"] = strings.Repeat("00", 32) },
		"digests":            func(o object) { o["digests"].([]any)[1] = strings.Repeat("00", 32) },
		"short digest":       func(o object) { o["digests"].([]any)[0] = "00" },
		"no files":           func(o object) { o["files"] = []any{} },
		"null files":         func(o object) { o["files"] = nil },
		"one file":           func(o object) { o["files"] = o["files"].([]any)[:1] },
		"file twice":         func(o object) { o["files"].([]any)[1] = o["files"].([]any)[0] },
		"directory":          func(o object) { o["files"].([]any)[1].(object)["path"] = dir },
		"device":             func(o object) { o["files"].([]any)[1].(object)["path"] = "/dev/zero" },
		"samples of a file":  func(o object) { o["files"].([]any)[0].(object)["samples"] = 29 },
	} {
		t.Run(name, func(t *testing.T) {
			o := object{}
			decoder := json.NewDecoder(strings.NewReader(string(text)))
			decoder.UseNumber() // times are beyond what a float holds
			if err := decoder.Decode(&o); err != nil {
				t.Fatal(err)
			}
			damage(o)
			spoiled, err := json.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			refusesPlan(t, spoiled, point)
		})
	}
	for i, spoiled := range []string{"", "{}", "null", "[]", string(text[:len(text)/2]), "\x89HDF\r\n"} {
		t.Run(fmt.Sprint(i), func(t *testing.T) { refusesPlan(t, []byte(spoiled), point) })
	}
}

func refusesPlan(t *testing.T, plan []byte, point string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(path, plan, 0o644); err != nil {
		t.Fatal(err)
	}
	r := run(t, "", program, "mount", "--daemon", "--plan", path, point)
	if r.code != 2 && r.code != 4 || strings.Count(r.stderr, "\n") != 1 || !strings.Contains(r.stderr, path) {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
	if mounted(t, point) {
		t.Fatal("it is mounted")
	}
}

// A plan of another version, that is, one whose digests this one cannot make,
// is refused before anything is mounted.
func TestPlanOfAnotherVersion(t *testing.T) {
	data := makeData(t, "contiguous", 60, 1)[0]
	plans := make([]object, 2)
	for i := range plans {
		text := solarfs(t, "plan", "--json", "--data", data, "--epochs", "2", "--batch-size", "4", "--seed", fmt.Sprint(i))
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&plans[i]); err != nil {
			t.Fatal(err)
		}
	}
	plans[0]["digest"], plans[0]["digests"] = plans[1]["digest"], plans[1]["digests"]
	text, err := json.Marshal(plans[0])
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "plan")
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", program, "mount", "--daemon", "--plan", path, t.TempDir()); r.code != 4 || !strings.Contains(r.stderr, "plans differently") {
		t.Errorf("exit code %d\n%s", r.code, r.stderr)
	}
}

// Flags beside a plan may repeat it, from wherever they come, and one YAML file
// serves plan, mount and status.
func TestPlanAndFlags(t *testing.T) {
	dir, point := t.TempDir(), t.TempDir()
	data := filepath.Join(dir, "a,b.h5") // a comma is a character like any other
	if err := os.Rename(makeData(t, "contiguous", 60, 1)[0], data); err != nil {
		t.Fatal(err)
	}
	plan, config := filepath.Join(dir, "plan"), filepath.Join(dir, "job.yaml")
	text := fmt.Sprintf("data: %s\nfield: [x=a]\nepochs: 2\nbatch-size: 4\nbuffer: 1GiB\nwindow: 1TiB\nseed: 5\ntimeout: 5s\nlog-file: %s/log\n", data, dir)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	solarfs(t, "plan", "--config", config, "-o", plan)
	solarfs(t, "mount", "--daemon", "--config", config, "--plan", plan, "--drop-last=false", "--nodes", "1", point)
	if out := solarfs(t, "status", "--config", config, point); !strings.Contains(out, "nothing read yet") {
		t.Errorf("status:\n%s", out)
	}
	solarfs(t, "umount", "--config", config, point)
	for says, args := range map[string][]string{
		"--seed is 3, but the plan " + plan + " is for 5": {"--seed", "3"},
		"--field is [x]":                  {"--field", "x"},
		"--data is [/":                    {"--data", makeData(t, "contiguous", 60, 1)[0]},
		"--drop-last is true":             {"--drop-last"},
		"--memory is 1048576 bytes":       {"--memory", "1MiB"},
		"--window is 2000 bytes":          {"--window", "2KB"},
		"batch-size in " + config + " is": {"--config", config},
	} {
		if args[0] == "--config" {
			if err := os.WriteFile(config, []byte("batch-size: 5\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		r := run(t, "", program, append(append([]string{"mount", "--daemon", "--plan", plan}, args...), point)...)
		if r.code != 4 || !strings.Contains(r.stderr, says) {
			t.Errorf("%v: exit code %d\n%s", args, r.code, r.stderr)
		}
	}
}
