package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// daemonMark tells a process that it is the daemon; its descriptor 3 is the
// pipe on which the starter waits.
const daemonMark = "_SOLARFS_IS_DAEMON"

const readyPipe = 3

func isDaemon() bool { return os.Getenv(daemonMark) != "" }

// startDaemon runs this command line again in a session of its own (a job
// step's or a prolog's end kills its process group) and returns when the mount
// answers through the kernel, or with the daemon's exit code.
func startDaemon(ctx context.Context, dir string, stderr io.Writer) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the solarfs program: %w", err)
	}
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	defer read.Close()
	daemon := exec.Command(self, os.Args[1:]...)
	daemon.Env = append(os.Environ(), daemonMark+"=1")
	daemon.Stderr = stderr // until it is ready
	daemon.ExtraFiles = []*os.File{write}
	daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	// Before the start: a daemon must not outlive a starter that is asked to end.
	ctx, stop := untilSignal(ctx)
	defer stop()
	if err := daemon.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	write.Close()
	defer context.AfterFunc(ctx, func() { daemon.Process.Signal(syscall.SIGTERM) })()
	if word, _ := io.ReadAll(read); len(word) == 0 {
		return daemonFailed(daemon.Wait())
	}
	if _, err := os.Stat(filepath.Join(dir, ".solarfs", "status.json")); err != nil {
		return badPoint("the mount does not answer: %w", err)
	}
	return daemon.Process.Release()
}

// daemonFailed passes on how the daemon ended; it has said why itself.
func daemonFailed(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return coded{errSaid, exit.ExitCode()}
	}
	if err == nil {
		err = errors.New("it was asked to end")
	}
	return fmt.Errorf("the daemon ended before the mount was there: %w", err)
}

// reportReady ends the starter's wait and lets go of everything that is the
// starter's: its streams and its working directory. What a panic or a crash in
// libhdf5 prints goes to the log file, if there is one.
func reportReady(logFile *os.File) error {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	if logFile == nil {
		logFile = null
	}
	for fd, to := range []*os.File{null, logFile, logFile} {
		if err := unix.Dup3(int(to.Fd()), fd, 0); err != nil {
			return fmt.Errorf("let go of the terminal: %w", err)
		}
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	pipe := os.NewFile(readyPipe, "ready pipe")
	defer pipe.Close()
	_, err = pipe.WriteString("ready\n")
	return err
}
