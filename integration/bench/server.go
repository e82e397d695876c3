package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"
)

// server is a program that serves a mount point until it is stopped.
type server struct {
	cmd    *exec.Cmd
	point  string
	stderr bytes.Buffer
	ended  chan error
}

// serve starts a program that mounts on a new directory, and waits until it has. args makes the arguments for the directory.
func (b *bench) serve(ctx context.Context, g *cgroup, kind string, name string, args func(point string) []string) (*server, error) {
	point, err := os.MkdirTemp(b.dir, kind+"-")
	if err != nil {
		return nil, err
	}
	s := &server{point: point, ended: make(chan error, 1)}
	// Its end comes in the order of the end of all, not with the context.
	s.cmd = b.command(context.WithoutCancel(ctx), g, name, args(point)...)
	s.cmd.Stderr = &s.stderr
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	go func() { s.ended <- s.cmd.Wait() }()
	for range 1000 {
		select {
		case err := <-s.ended:
			return nil, failed(s.cmd, fmt.Errorf("ended at once: %v", err), s.stderr.String())
		case <-time.After(10 * time.Millisecond):
		}
		if isMounted(point) {
			return s, nil
		}
	}
	s.stop()
	return nil, failed(s.cmd, fmt.Errorf("has mounted nothing on %s in ten seconds", point), s.stderr.String())
}

// stop takes the mount down and ends the program.
func (s *server) stop() error {
	s.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-s.ended:
	case <-time.After(10 * time.Second):
		s.cmd.Process.Kill()
		<-s.ended
	}
	return unmounted(s.point)
}

func isMounted(point string) bool {
	return strings.Contains(whole("/proc/self/mounts"), " "+point+" ")
}

// unmounted detaches what a program may have left mounted.
func unmounted(point string) error {
	if !isMounted(point) {
		return nil
	}
	if err := exec.Command("umount", "-l", point).Run(); err != nil {
		return fmt.Errorf("detach %s: %w; do it by hand: umount -l %s", point, err, point)
	}
	return nil
}
