package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
)

// counts are what a storage was asked for.
type counts struct {
	Requests int64 `json:"requests"`
	Bytes    int64 `json:"bytes"`
}

// counter reads the counts of a storage; nil where it has none.
type counter func() (counts, error)

// measurement is the measured part of one run.
type measurement struct {
	Seconds float64
	Samples int // -1: whole epochs
	Batches int
	Epochs  int             // whole ones; 0: a part of one
	Digests json.RawMessage // of batches

	cpu     float64 // seconds, of the reader and the daemons
	counts  counts
	counted bool
}

// meter measures what happens between a reader's marks.
type meter struct {
	count   counter
	daemons []int                   // processes whose time counts as well
	onMark  map[string]func() error // what else is done at a mark

	started float64 // processor time at the beginning
	before  counts
	got     measurement
}

// follow runs a reader that prints marks and then its result.
func (m *meter) follow(cmd *exec.Cmd) (measurement, error) {
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return m.got, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return m.got, err
	}
	if err := cmd.Start(); err != nil {
		return m.got, err
	}
	talk := m.talk(cmd.Process.Pid, out, in)
	if talk != nil {
		cmd.Cancel()
	}
	if err := cmd.Wait(); err != nil {
		return m.got, errors.Join(talk, failed(cmd, err, stderr.String()))
	}
	if talk == nil && (m.got.Seconds == 0 || m.got.Samples == 0) {
		talk = errors.New("the reader has read nothing that could be measured; give more --seconds")
	}
	return m.got, talk
}

// talk answers each mark when the counters have been read.
func (m *meter) talk(pid int, out io.Reader, in io.Writer) error {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), &m.got); err != nil {
				return fmt.Errorf("the reader's result %q: %w", line, err)
			}
			continue
		}
		if err := m.mark(line, pid); err != nil {
			return fmt.Errorf("at the reader's mark %q: %w", line, err)
		}
		if _, err := fmt.Fprintln(in); err != nil {
			return nil // it has ended, and Wait says why
		}
	}
	return nil
}

func (m *meter) mark(word string, pid int) error {
	if do := m.onMark[word]; do != nil {
		if err := do(); err != nil {
			return err
		}
	}
	cpu, err := processorTime(append([]int{pid}, m.daemons...))
	if err != nil {
		return err
	}
	var now counts
	if m.count != nil {
		if now, err = m.count(); err != nil {
			return err
		}
	}
	switch word {
	case "begin":
		m.started, m.before = cpu, now
	case "end":
		m.got.cpu, m.got.counted = cpu-m.started, m.count != nil
		m.got.counts = counts{now.Requests - m.before.Requests, now.Bytes - m.before.Bytes}
	}
	return nil
}
