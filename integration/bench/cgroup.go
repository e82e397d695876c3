package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cgroup bounds memory and disk of what runs in it. In version 1 it is two directories, in version 2 one.
type cgroup struct {
	memory, io string
	v2         bool
}

// cgroupRoots finds where cgroups are mounted.
func cgroupRoots() (g cgroup, err error) {
	for line := range strings.Lines(whole("/proc/self/mounts")) {
		f := strings.Fields(line)
		options := "," + f[3] + ","
		switch {
		case f[2] == "cgroup" && strings.Contains(options, ",memory,"):
			g.memory = f[1]
		case f[2] == "cgroup" && strings.Contains(options, ",blkio,"):
			g.io = f[1]
		case f[2] == "cgroup2" && g.memory == "":
			if has := " " + whole(f[1]+"/cgroup.controllers") + " "; strings.Contains(has, " memory ") && strings.Contains(has, " io ") {
				return cgroup{f[1], f[1], true}, nil
			}
		}
	}
	if g.memory == "" || g.io == "" {
		return g, errors.New("no cgroups for memory and disks are mounted here; run it where they are, as root")
	}
	return g, nil
}

// newCgroup makes a cgroup of a name for so many bytes.
func newCgroup(name string, memory int64) (*cgroup, error) {
	root, err := cgroupRoots()
	if err != nil {
		return nil, err
	}
	if root.v2 {
		// Where it is on already, or the root is a container's, the files below tell.
		os.WriteFile(root.memory+"/cgroup.subtree_control", []byte("+memory +io"), 0)
	}
	g := &cgroup{filepath.Join(root.memory, name), filepath.Join(root.io, name), root.v2}
	for _, dir := range g.dirs() {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return nil, fmt.Errorf("make a cgroup: %w; it takes root, and cgroups that can be written", err)
		}
	}
	limit := "memory.limit_in_bytes"
	if g.v2 {
		limit = "memory.max"
	}
	if err := g.set(g.memory, limit, strconv.FormatInt(memory, 10)); err != nil {
		return nil, errors.Join(err, g.remove())
	}
	return g, nil
}

func (g *cgroup) dirs() []string {
	if g.v2 {
		return []string{g.memory}
	}
	return []string{g.memory, g.io}
}

// entries are the files into which a process writes its number to get in.
func (g *cgroup) entries() (files []string) {
	for _, dir := range g.dirs() {
		files = append(files, dir+"/cgroup.procs")
	}
	return files
}

func (g *cgroup) set(dir, name, value string) error {
	if err := os.WriteFile(filepath.Join(dir, name), []byte(value), 0); err != nil {
		return fmt.Errorf("set up a cgroup: %w; the kernel may lack that controller", err)
	}
	return nil
}

// throttle bounds what is read of a disk, in requests and bytes a second.
func (g *cgroup) throttle(d device, iops, bps int64) error {
	if g.v2 {
		return g.set(g.io, "io.max", fmt.Sprintf("%s riops=%d rbps=%d", d, iops, bps))
	}
	return errors.Join(g.set(g.io, "blkio.throttle.read_iops_device", fmt.Sprintf("%s %d", d, iops)),
		g.set(g.io, "blkio.throttle.read_bps_device", fmt.Sprintf("%s %d", d, bps)))
}

// counter counts what is read of a disk.
func (g *cgroup) counter(d device) counter {
	return func() (c counts, err error) {
		if g.v2 {
			c.Requests, c.Bytes = ioStat(whole(g.io+"/io.stat"), d)
			return c, nil
		}
		c.Requests = blkio(whole(g.io+"/blkio.throttle.io_serviced"), d)
		c.Bytes = blkio(whole(g.io+"/blkio.throttle.io_service_bytes"), d)
		return c, nil
	}
}

// blkio is the number in the line "254:0 Read 123".
func blkio(text string, d device) (n int64) {
	for line := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(line, d.String()+" Read "); ok {
			n, _ = strconv.ParseInt(strings.TrimSpace(rest), 10, 64)
		}
	}
	return n
}

// ioStat takes both numbers from the line "254:0 rbytes=1 wbytes=2 rios=3 ...".
func ioStat(text string, d device) (requests, bytes int64) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != d.String() {
			continue
		}
		for _, pair := range f[1:] {
			name, value, _ := strings.Cut(pair, "=")
			switch n, _ := strconv.ParseInt(value, 10, 64); name {
			case "rios":
				requests = n
			case "rbytes":
				bytes = n
			}
		}
	}
	return requests, bytes
}

// remove ends what is left in the cgroup and removes it.
func (g *cgroup) remove() error {
	var last error
	for _, dir := range g.dirs() {
		for range 100 {
			if last = os.Remove(dir); last == nil || errors.Is(last, os.ErrNotExist) {
				last = nil
				break
			}
			for _, pid := range strings.Fields(whole(dir + "/cgroup.procs")) {
				if n, err := strconv.Atoi(pid); err == nil {
					syscall.Kill(n, syscall.SIGKILL)
				}
			}
			time.Sleep(50 * time.Millisecond)
		}
		if last != nil {
			return fmt.Errorf("remove the cgroup %s: %w; end what runs in it and remove the directory", dir, last)
		}
	}
	return nil
}
