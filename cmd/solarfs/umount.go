package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"
)

func umountCommand() *cli.Command {
	return &cli.Command{
		Name:      "umount",
		Usage:     "take a mount down and wait for its daemon to end",
		UsageText: "solarfs umount [--timeout TIME] DIR\n\nExample: solarfs umount /mnt/solar",
		Flags: []cli.Flag{
			configFlag(),
			&cli.DurationFlag{Name: "timeout", Value: 10 * time.Second, Usage: "wait this `TIME` for readers before the mount is detached under them", EnvVars: env("timeout")},
		},
		Action: umountAction,
	}
}

func umountAction(c *cli.Context) error {
	dir, err := oneDir(c)
	if err != nil {
		return err
	}
	if mounted, err := ourMount(dir); err != nil || !mounted {
		return badPoint("no solarfs is mounted on %s", dir)
	}
	status, err := readStatus(dir)
	if errors.Is(err, syscall.ENOTCONN) {
		fmt.Fprintf(c.App.ErrWriter, "solarfs: the daemon of %s had died already\n", dir)
		return detach(dir)
	}
	detached, err := takeDown(dir, c.Duration("timeout"))
	if err != nil {
		return badPoint("unmount %s: %w", dir, err)
	}
	if detached {
		fmt.Fprintf(c.App.ErrWriter, "solarfs: %s was in use; it is detached and ends with its last reader\n", dir)
		return nil
	}
	if !awaitExit(status.PID, c.Duration("timeout")) {
		fmt.Fprintf(c.App.ErrWriter, "solarfs: %s is unmounted here, but its daemon %d still runs: another mount namespace holds the mount\n", dir, status.PID)
	}
	return nil
}

// oneDir is the command's one argument, as the kernel knows it.
func oneDir(c *cli.Context) (string, error) {
	if c.NArg() != 1 {
		return "", wrongUse("solarfs %s takes one mount point; see solarfs %s --help", c.Command.Name, c.Command.Name)
	}
	dir, err := absolute(c.Args().First())
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		dir = real
	}
	return dir, nil
}

// readStatus reads the mount's own account of itself.
func readStatus(dir string) (statusDoc, error) {
	var s statusDoc
	text, err := os.ReadFile(filepath.Join(dir, ".solarfs", "status.json"))
	if err != nil {
		return s, err
	}
	return s, json.Unmarshal(text, &s)
}

// awaitExit waits until the process has ended, so that all it held is free, and
// reports whether it has.
func awaitExit(pid int, timeout time.Duration) bool {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return true // it is gone already
	}
	defer unix.Close(fd)
	ready := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	for end := time.Now().Add(timeout); time.Now().Before(end); {
		n, err := unix.Poll(ready, int(time.Until(end).Milliseconds())+1)
		if n > 0 || err != nil && err != unix.EINTR {
			return n > 0
		}
	}
	return false
}
