package main

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// process is what /proc says of one.
type process struct {
	parent int
	ticks  int64 // of processor time, its own and its ended children's
}

// ticksPerSecond is the kernel's USER_HZ, the same on all machines that Go knows.
const ticksPerSecond = 100

// processorTime is what processes and those below them have used, in seconds.
func processorTime(roots []int) (float64, error) {
	all, err := processes()
	if err != nil {
		return 0, err
	}
	var ticks int64
	for pid, p := range all {
		for at := pid; at > 1; at = all[at].parent {
			if slices.Contains(roots, at) {
				ticks += p.ticks
				break
			}
		}
	}
	return float64(ticks) / ticksPerSecond, nil
}

func processes() (map[int]process, error) {
	paths, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil, err
	}
	all := map[int]process{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(path)))
		if p, ok := parseStat(string(text)); ok {
			all[pid] = p
		}
	}
	return all, nil
}

// parseStat reads /proc/PID/stat; the name in parentheses may hold anything.
func parseStat(text string) (p process, ok bool) {
	fields := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(fields) < 15 {
		return p, false
	}
	p.parent, _ = strconv.Atoi(fields[1])
	for _, f := range fields[11:15] { // utime, stime, cutime, cstime
		n, _ := strconv.ParseInt(f, 10, 64)
		p.ticks += n
	}
	return p, true
}
