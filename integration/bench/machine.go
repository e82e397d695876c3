package main

import (
	"os"
	"runtime"
	"strconv"
	"strings"
)

// machine is where a run was made.
type machine struct {
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Memory int64  `json:"memory_bytes"`
}

func thisMachine() machine {
	kib, _ := strconv.ParseInt(strings.TrimSuffix(field("/proc/meminfo", "MemTotal"), " kB"), 10, 64)
	return machine{CPU: field("/proc/cpuinfo", "model name"), Cores: runtime.NumCPU(), Kernel: whole("/proc/sys/kernel/osrelease"), Memory: kib << 10}
}

// whole is a file's text; "" where there is none.
func whole(path string) string {
	text, _ := os.ReadFile(path)
	return strings.TrimSpace(string(text))
}

// field is what stands behind a name and a colon, in the first such line.
func field(path, name string) string {
	for line := range strings.Lines(whole(path)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
