package integration

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// What cannot work ends with its exit code and one line that says what is
// wrong, and mounts nothing.
func TestRefusals(t *testing.T) {
	data := makeData(t, "contiguous", 50, 1)[0]
	dir := t.TempDir()
	point := filepath.Join(dir, "point")
	full := filepath.Join(dir, "full")
	for _, d := range []string{point, full, filepath.Join(full, "something")} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	text := filepath.Join(dir, "text.h5")
	config := filepath.Join(dir, "bad.yaml")
	plan := filepath.Join(dir, "plan")
	for path, content := range map[string]string{text: "no HDF5", config: "batch-syze: 3\n"} {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	solarfs(t, "plan", "--data", data, "--epochs", "2", "--batch-size", "4", "--nodes", "2", "-o", plan)
	job := []string{"--epochs", "2", "--batch-size", "4"}
	mount := func(args ...string) []string { return append([]string{"mount", "--daemon"}, args...) }
	with := func(args []string, more ...string) []string { return append(append([]string{}, args...), more...) }
	for _, c := range []struct {
		name string
		code int
		says string
		args []string
	}{
		{"no command", 2, "no command", []string{"mont"}},
		{"unknown flag", 2, "batch-syze", with(mount("--batch-syze", "3"), point)},
		{"no data", 2, "--data", with(mount(job...), point)},
		{"missing file", 2, "gone.h5", with(mount(with(job, "--data", dir+"/gone.h5")...), point)},
		{"not HDF5", 2, "text.h5", with(mount(with(job, "--data", text)...), point)},
		{"missing dataset", 2, "nope", with(mount(with(job, "--data", data, "--field", "nope")...), point)},
		{"string dataset", 2, "note", with(mount(with(job, "--data", data, "--field", "note")...), point)},
		{"no epochs", 2, "--epochs", with(mount("--data", data, "--batch-size", "4"), point)},
		{"negative batch", 2, "--batch-size", with(mount("--data", data, "--epochs", "1", "--batch-size", "-4"), point)},
		{"size without sense", 2, "--memory", with(mount(with(job, "--data", data, "--memory", "lots")...), point)},
		{"too little memory", 2, "--memory", with(mount(with(job, "--data", data, "--memory", "1KiB")...), point)},
		{"unknown order", 2, "order", with(mount(with(job, "--data", data, "--order", "random")...), point)},
		{"unknown strategy", 2, "no strategy", with(mount(with(job, "--data", data, "--strategy", "magic")...), point)},
		{"strategy that no mount can run", 2, "each other's memory", with(mount(with(job, "--data", data, "--strategy", "nopfs")...), point)},
		{"too uneven", 2, "max imbalance is 1", with(mount(with(job, "--data", data, "--max-imbalance", "1")...), point)},
		{"address that is taken", 2, "--http " + taken.Addr().String(), with(mount(with(job, "--data", data, "--http", taken.Addr().String())...), point)},
		{"address without port", 2, "give HOST:PORT", with(mount(with(job, "--data", data, "--http", "8080")...), point)},
		{"no step left", 2, "no step is left", with(mount("--data", data, "--epochs", "1", "--batch-size", "51", "--drop-last"), point)},
		{"flag behind argument", 2, "--node", with(mount(with(job, "--data", data)...), point, "--node", "0")},
		{"two mount points", 2, "one mount point", with(mount(with(job, "--data", data)...), point, full)},
		{"unknown word in the config", 2, "batch-syze", with(mount("--config", config), point)},
		{"missing mount point", 3, "make the directory", with(mount(with(job, "--data", data)...), dir+"/nowhere")},
		{"full mount point", 3, "not empty", with(mount(with(job, "--data", data)...), full)},
		{"no plan file", 2, "solarfs plan -o", with(mount("--plan", dir+"/nope"), point)},
		{"plan of other data", 2, "plan file", with(mount("--plan", data), point)},
		{"node unknown", 2, "--node", with(mount("--plan", plan), point)},
		{"node too high", 4, "2 nodes", with(mount("--plan", plan, "--node", "2"), point)},
		{"other node count than planned", 4, "--nodes is 3", with(mount("--plan", plan, "--nodes", "3", "--node", "0"), point)},
		{"what the plan has settled", 4, "--seed is 3", with(mount("--plan", plan, "--seed", "3"), point)},
		{"other strategy than planned", 4, "--strategy is lru", with(mount("--plan", plan, "--strategy", "lru"), point)},
		{"more uneven than planned", 4, "--max-imbalance is 0.5", with(mount("--plan", plan, "--max-imbalance", ".5"), point)},
		{"negative node", 2, "--node", with(mount("--plan", plan, "--node", "-1"), point)},
		{"read-write", 2, "read-only", with(mount("--plan", plan, "--node", "0", "-o", "direct_io,rw"), point)},
		{"ready file nowhere", 2, dir + "/nowhere/ready", with(mount("--plan", plan, "--node", "0", "--ready-file", dir+"/nowhere/ready"), point)},
		{"plan nowhere", 2, dir + "/nowhere/plan", []string{"plan", "--data", data, "--epochs", "2", "--batch-size", "4", "-o", dir + "/nowhere/plan"}},
		{"window too small", 2, "--window 100 B", with(mount(with(job, "--data", data, "--window", "100B")...), point)},
		{"too many epochs", 2, "100000", with(mount("--data", data, "--epochs", "100001", "--batch-size", "4"), point)},
		{"alias with a slash", 2, "alias", with(mount(with(job, "--data", data, "--field", "x=a/b")...), point)},
		{"status of nothing", 3, "no solarfs", []string{"status", point}},
		{"umount of nothing", 3, "no solarfs", []string{"umount", point}},
		{"inspect of nothing", 2, "inspect", []string{"inspect"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := run(t, "", program, c.args...)
			if r.code != c.code || !strings.Contains(r.stderr, c.says) {
				t.Errorf("%v: exit code %d, want %d with %q in\n%s", c.args, r.code, c.code, c.says, r.stderr)
			}
			if lines := strings.Count(r.stderr, "\n"); lines != 1 && c.name != "no command" {
				t.Errorf("%d lines where one would do:\n%s", lines, r.stderr)
			}
			if mounted(t, point) || mounted(t, full) {
				t.Fatal("something is mounted")
			}
		})
	}
}

// A plan fits only the data it was made for.
func TestPlanAndDataMustAgree(t *testing.T) {
	data := makeData(t, "contiguous", 50, 1)[0]
	plan, point := filepath.Join(t.TempDir(), "plan"), t.TempDir()
	solarfs(t, "plan", "--data", data, "--epochs", "2", "--batch-size", "4", "-o", plan)
	now := time.Now()
	if err := os.Chtimes(data, now, now); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", program, "mount", "--daemon", "--plan", plan, point); r.code != 4 || !strings.Contains(r.stderr, "changed") {
		t.Errorf("touched data: exit code %d\n%s", r.code, r.stderr)
	}
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	if r := run(t, "", program, "mount", "--daemon", "--plan", plan, point); r.code != 4 {
		t.Errorf("removed data: exit code %d\n%s", r.code, r.stderr)
	}
}

// The help of every command has an example.
func TestHelp(t *testing.T) {
	for _, cmd := range []string{"mount", "umount", "plan", "inspect", "status", "demo", "version"} {
		if out := solarfs(t, cmd, "--help"); !strings.Contains(out, "Example: solarfs "+cmd) {
			t.Errorf("%s --help:\n%s", cmd, out)
		} else if strings.Contains(out, "(default: 0) [$SOLARFS_EPOCHS]") || strings.Contains(out, " value ") {
			t.Errorf("%s --help shows a default that is none, or a flag without a word for its value:\n%s", cmd, out)
		}
	}
	if out := solarfs(t, "version"); !strings.HasPrefix(out, "solarfs ") {
		t.Errorf("version: %q", out)
	}
}

func TestJSON(t *testing.T) {
	data := makeData(t, "gzip", 50, 1)[0]
	object := func(args ...string) map[string]any {
		t.Helper()
		var o map[string]any
		if err := json.Unmarshal([]byte(solarfs(t, args...)), &o); err != nil {
			t.Fatal(err)
		}
		return o
	}
	has := func(o map[string]any, names ...string) {
		t.Helper()
		for _, name := range names {
			if o[name] == nil {
				t.Errorf("%q is missing in %v", name, o)
			}
		}
	}
	plan := object("plan", "--json", "--data", data, "--epochs", "2", "--batch-size", "4")
	has(plan, "samples", "sample_bytes", "fields", "left_out", "field_args", "spec", "files", "epochs", "steps_per_epoch", "nodes", "ranks", "batch_size", "strategy",
		"buffer_samples_per_node", "loads", "loads_bound", "loads_by_epoch", "storage_reads_by_epoch", "hit_rate", "max_batch", "min_batch",
		"busiest_over_mean_step", "busiest_over_mean_16_steps", "plan_seconds", "digest")
	if plan["sample_bytes"] != float64(sampleBytes) || plan["samples"] != 50.0 {
		t.Errorf("plan: %v", plan)
	}
	has(object("inspect", "--json", data), "files")
	m := newMount(t, "--data", data, "--epochs", "2", "--batch-size", "4")
	has(object("status", "--json", m.dir), "ready", "ranks", "hits", "loads", "storage_reads", "bytes_read", "bytes_served", "stall_seconds", "memory", "serving", "errors", "latency", "reading", "epochs", "steps_per_epoch")
	text := run(t, "", "cat", m.dir+"/.solarfs/plan.json", m.dir+"/.solarfs/status.json")
	if text.code != 0 || !strings.Contains(text.stdout, plan["digest"].(string)) || !strings.Contains(text.stdout, `"ready": true`) {
		t.Errorf(".solarfs: %s%s", text.stdout, text.stderr)
	}
}

// Flags can stand in a file or in the environment; the command line wins.
func TestConfig(t *testing.T) {
	data := makeData(t, "contiguous", 60, 2)
	config := filepath.Join(t.TempDir(), "job.yaml")
	text := fmt.Sprintf("data: [%s, %s]\nepochs: 3\nbatch-size: 5\ndrop-last: true\nbuffer: 4KB\n", data[0], data[1])
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "plan", "--json", "--config", config, "--batch-size", "7")
	cmd.Env = append(os.Environ(), "SOLARFS_EPOCHS=4", "SOLARFS_BATCH_SIZE=6")
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var plan struct {
		Samples       int
		Epochs        int
		BatchSize     int `json:"batch_size"`
		StepsPerEpoch int `json:"steps_per_epoch"`
		Buffer        int `json:"buffer_samples_per_node"`
	}
	if err := json.Unmarshal(out, &plan); err != nil {
		t.Fatal(err)
	}
	if plan.Samples != 60 || plan.Epochs != 4 || plan.BatchSize != 7 || plan.StepsPerEpoch != 8 || plan.Buffer != 4000/sampleBytes {
		t.Errorf("%+v", plan)
	}
}

// Readers of a killed daemon get an error at once; status says what happened;
// the next mount repairs the point; the ready file tells the process.
func TestKilledDaemonIsRepaired(t *testing.T) {
	data := makeData(t, "contiguous", 60, 1)[0]
	ready := filepath.Join(t.TempDir(), "ready")
	flags := []string{"--data", data, "--epochs", "2", "--batch-size", "4", "--ready-file", ready}
	m := newMount(t, flags...)
	pid := m.status().PID
	if text, err := os.ReadFile(ready); err != nil || strings.TrimSpace(string(text)) != fmt.Sprint(pid) {
		t.Errorf("ready file: %q, %v; the daemon is %d", text, err, pid)
	}
	if sid, _, _ := syscall.Syscall(syscall.SYS_GETSID, uintptr(pid), 0, 0); int(sid) != pid {
		t.Errorf("the daemon %d is in session %d, not in its own", pid, sid)
	}
	if r := run(t, "", program, append(append([]string{"mount", "--daemon"}, flags...), m.dir)...); r.code != 3 || !strings.Contains(r.stderr, "already mounted") {
		t.Errorf("mounting twice: exit code %d\n%s", r.code, r.stderr)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	for alive(pid) {
		time.Sleep(time.Millisecond)
	}
	if r := run(t, "", "ls", m.dir); r.code == 0 {
		t.Error("a dead mount lists something")
	}
	if r := run(t, "", program, "status", m.dir); r.code != 3 || !strings.Contains(r.stderr, "has died") {
		t.Errorf("status of a dead mount: exit code %d\n%s", r.code, r.stderr)
	}
	solarfs(t, append(append([]string{"mount", "--daemon"}, flags...), m.dir)...)
	if r := run(t, "", "ls", m.dir); r.code != 0 || !strings.Contains(r.stdout, "epoch-0001") {
		t.Errorf("after the repair: %s%s", r.stdout, r.stderr)
	}
	m.down()
	if _, err := os.Stat(ready); err == nil {
		t.Error("the ready file has outlived the mount")
	}
}

// What a crash prints after the start stands in the log file.
func TestKilledDaemonLeavesItsTrace(t *testing.T) {
	m := newMount(t, "--data", makeData(t, "contiguous", 60, 1)[0], "--epochs", "2", "--batch-size", "4")
	pid := m.status().PID
	if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
		t.Fatal(err)
	}
	for alive(pid) {
		time.Sleep(time.Millisecond)
	}
	if log := m.logged(); !strings.Contains(log, `node=0 from="the job's only node" ranks="0-0 of 1"`) || !strings.Contains(log, "goroutine ") {
		t.Errorf("the log:\n%s", log)
	}
	solarfs(t, "umount", m.dir)
}

// A foreground mount ends cleanly on SIGTERM, also while a reader has a file
// open, and umount detaches a busy mount after its timeout.
func TestEndings(t *testing.T) {
	data := makeData(t, "contiguous", 60, 1)[0]
	dir := t.TempDir()
	start := func() *exec.Cmd {
		t.Helper()
		ready := filepath.Join(t.TempDir(), "ready")
		cmd := exec.Command(program, "mount", "--data", data, "--epochs", "2", "--batch-size", "4", "--ready-file", ready, dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
			if _, err := os.Stat(ready); err == nil {
				return cmd
			}
			if time.Now().After(end) {
				cmd.Process.Kill()
				t.Fatal("the mount is not ready")
			}
		}
	}
	hold := func() *exec.Cmd {
		t.Helper()
		reader := exec.Command("sleep", "100")
		reader.Dir = dir + "/epoch-0000/rank-0000"
		if err := reader.Start(); err != nil {
			t.Fatal(err)
		}
		return reader
	}
	t.Run("SIGTERM", func(t *testing.T) {
		cmd := start()
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil || mounted(t, dir) {
			t.Errorf("%v, mounted: %v", err, mounted(t, dir))
		}
	})
	t.Run("SIGTERM while planning", func(t *testing.T) {
		cmd := exec.Command(program, "mount", "--daemon", "--data", data, "--epochs", "100000", "--batch-size", "1", "--ranks-per-node", "60", "--nodes", "60000", "--node", "0", dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // it plans for minutes
		asked := time.Now()
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err == nil || time.Since(asked) > 2*time.Second || mounted(t, dir) {
			t.Errorf("%v after %v, mounted: %v", err, time.Since(asked), mounted(t, dir))
		}
	})
	t.Run("busy umount", func(t *testing.T) {
		cmd, reader := start(), hold()
		defer reader.Wait()
		defer reader.Process.Kill()
		if r := run(t, "", program, "umount", "--timeout", "200ms", dir); r.code != 0 || !strings.Contains(r.stderr, "in use") {
			t.Errorf("exit code %d: %s", r.code, r.stderr)
		}
		if mounted(t, dir) {
			t.Error("still mounted")
		}
		reader.Process.Kill()
		reader.Wait()
		if err := cmd.Wait(); err != nil {
			t.Errorf("the daemon: %v", err)
		}
	})
}
