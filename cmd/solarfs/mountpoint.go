package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// fsType is how the kernel names our mounts.
const fsType = "fuse.solarfs"

// preparePoint makes dir ready to be mounted on, and repairs what a killed
// daemon has left there.
func preparePoint(dir string, log io.Writer) error {
	// statfs asks the daemon; stat may be answered from the kernel's memory of a
	// daemon that is dead.
	err := unix.Statfs(dir, &unix.Statfs_t{})
	if errors.Is(err, unix.ENOTCONN) {
		fmt.Fprintf(log, "solarfs: %s was left by a daemon that died; it is being repaired\n", dir)
		if err := detach(dir); err != nil {
			return badPoint("%s is a dead mount that cannot be taken down (try: fusermount3 -uz %s): %w", dir, dir, err)
		}
		err = unix.Statfs(dir, &unix.Statfs_t{})
	}
	if err != nil {
		return badPoint("mount point %s: %w; make the directory first", dir, err)
	}
	if mounted, err := ourMount(dir); err != nil || mounted {
		return badPoint("solarfs is already mounted on %s; take it down with solarfs umount %s", dir, dir)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return badPoint("mount point: %w; give an empty directory", err)
	}
	if len(entries) > 0 {
		return badPoint("mount point %s is not empty (it holds %s); give an empty directory", dir, entries[0].Name())
	}
	return nil
}

// ourMount says whether a solarfs is mounted on dir itself.
func ourMount(dir string) (bool, error) {
	found, err := mountinfo.GetMounts(func(i *mountinfo.Info) (skip, stop bool) {
		return i.Mountpoint != dir || i.FSType != fsType, false
	})
	return len(found) > 0, err
}

// detach takes the mount out of the tree at once; who has files open keeps them.
func detach(dir string) error {
	if os.Geteuid() == 0 {
		return unix.Unmount(dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	}
	return fusermount("-uz", dir)
}

// unmount takes the mount down if nobody uses it.
func unmount(dir string) error {
	if os.Geteuid() == 0 {
		return unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
	}
	return fusermount("-u", dir)
}

func fusermount(how, dir string) error {
	out, err := exec.Command("fusermount3", how, "--", dir).CombinedOutput()
	if err != nil {
		return fmt.Errorf("fusermount3 %s: %w: %s", how, err, out)
	}
	return nil
}

// takeDown unmounts dir, waiting for its users until the timeout and detaching
// it then. It reports whether it had to detach.
func takeDown(dir string, timeout time.Duration) (detached bool, err error) {
	for end := time.Now().Add(timeout); ; time.Sleep(50 * time.Millisecond) {
		err = unmount(dir)
		if mounted, e := ourMount(dir); err == nil || e == nil && !mounted {
			return false, nil // perhaps somebody else was quicker
		}
		if time.Now().After(end) {
			return true, detach(dir)
		}
	}
}
