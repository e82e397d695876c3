package slowfs

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// process is the command, serving a mount.
type process struct {
	t      *testing.T
	dir    string
	cmd    *exec.Cmd
	stdout *bufio.Reader
	stderr bytes.Buffer
	ended  bool
}

// start runs the command until it says that the mount answers.
func start(t *testing.T, speed Speed, source string) *process {
	t.Helper()
	p := &process{t: t, dir: t.TempDir()}
	p.cmd = preferred(program, "--latency", speed.Latency.String(), "--bandwidth", fmt.Sprintf("%dB/s", speed.Bandwidth), "--at-once", fmt.Sprint(speed.AtOnce), source, p.dir)
	p.cmd.Stderr = &p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.stdout = bufio.NewReader(stdout)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if !p.ended {
			p.stop()
		}
	})
	if line, err := p.stdout.ReadString('\n'); line != "ready\n" {
		t.Fatalf("printed %q (%v): %s", line, err, &p.stderr)
	}
	return p
}

// stop ends the command by a signal and returns what it has counted.
func (p *process) stop() Counts {
	p.t.Helper()
	p.cmd.Process.Signal(syscall.SIGTERM)
	return p.end()
}

// end waits for the command's end.
func (p *process) end() (c Counts) {
	p.t.Helper()
	p.ended = true
	line, err := io.ReadAll(p.stdout)
	if err != nil {
		p.t.Error(err)
	}
	if err := p.cmd.Wait(); err != nil || p.stderr.Len() > 0 {
		p.t.Errorf("slowfs: %v: %s", err, &p.stderr)
	}
	if err := json.Unmarshal(line, &c); err != nil {
		p.t.Errorf("its last line is %q: %v", line, err)
	}
	if mounted(p.t, p.dir) {
		p.t.Error("the mount is still there")
	}
	return c
}

func TestCommand(t *testing.T) {
	source := t.TempDir()
	writeRandom(t, source, "data", 10000)
	for name, end := range map[string]func(*process) Counts{
		"signal": (*process).stop,
		"umount": func(p *process) Counts {
			if out, err := exec.Command("umount", p.dir).CombinedOutput(); err != nil {
				t.Errorf("umount: %v: %s", err, out)
			}
			return p.end()
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, Speed{Latency: ms, AtOnce: 1}, source)
			if _, err := os.ReadFile(p.dir + "/data"); err != nil {
				t.Error(err)
			}
			var running Counts
			text, err := os.ReadFile(p.dir + "/" + ControlName)
			if err == nil {
				err = json.Unmarshal(text, &running)
			}
			if err != nil || running.Bytes != 10000 || running.Requests == 0 {
				t.Errorf("%s holds %q: %v", ControlName, text, err)
			}
			if last := end(p); last != running {
				t.Errorf("counted %+v while it ran and %+v at the end", running, last)
			}
		})
	}
}

func TestCommandRefuses(t *testing.T) {
	dir := t.TempDir()
	for _, test := range []struct{ args, says string }{
		{dir, "give SOURCE and MOUNTPOINT"},
		{"--bandwidth much " + dir + " " + dir, "write it as 200MB"},
		{"--at-once 0 " + dir + " " + dir, "give 1 to"},
		{"--latency -1s " + dir + " " + dir, "give 0 or more"},
		{dir + "/none " + dir, "no such file"},
	} {
		out, err := exec.Command(program, strings.Fields(test.args)...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), test.says) || strings.Count(string(out), "\n") != 1 {
			t.Errorf("slowfs %s: %v: %s", test.args, err, out)
		}
	}
}
