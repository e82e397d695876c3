package main

import (
	"fmt"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// device is a disk, by its numbers.
type device struct{ major, minor uint32 }

func (d device) String() string { return fmt.Sprintf("%d:%d", d.major, d.minor) }

// diskOf is the whole disk that holds a file: cgroups throttle no partitions.
func diskOf(path string) (device, error) {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return device{}, fmt.Errorf("find the disk of %s: %w", path, err)
	}
	d := device{unix.Major(st.Dev), unix.Minor(st.Dev)}
	dir, err := filepath.EvalSymlinks("/sys/dev/block/" + d.String())
	if err != nil {
		return d, fmt.Errorf("%s is on no disk of this machine; name a directory on one with --cache", path)
	}
	if whole(dir+"/partition") != "" {
		dir = filepath.Dir(dir)
	}
	if _, err := fmt.Sscanf(whole(dir+"/dev"), "%d:%d", &d.major, &d.minor); err != nil {
		return d, fmt.Errorf("read the numbers of the disk in %s/dev: %w", dir, err)
	}
	return d, nil
}
