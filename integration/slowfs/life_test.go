package slowfs

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func mounted(t *testing.T, dir string) bool {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Contains(string(mounts), " "+dir+" fuse.slowfs ")
}

func descriptors(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

func TestNothingIsLeft(t *testing.T) {
	source := t.TempDir()
	writeRandom(t, source, "data", 1<<20)
	cycle := func() {
		m, err := New(source, t.TempDir(), Speed{Latency: ms, AtOnce: 2})
		if err != nil {
			t.Fatal(err)
		}
		if !mounted(t, m.dir) {
			t.Error("not mounted")
		}
		load{8, 4096, 40}.read(t, m.dir+"/data")
		if err := m.Unmount(); err != nil {
			t.Error(err)
		}
		if mounted(t, m.dir) {
			t.Error("still mounted")
		}
	}
	cycle() // the runtime's own descriptors are made with the first
	files, routines := descriptors(t), runtime.NumGoroutine()
	for range 3 {
		cycle()
	}
	for end := time.Now().Add(5 * time.Second); runtime.NumGoroutine() > routines && time.Now().Before(end); {
		time.Sleep(10 * ms)
	}
	if n := descriptors(t); n > files {
		t.Errorf("%d descriptors, %d before", n, files)
	}
	if n := runtime.NumGoroutine(); n > routines {
		t.Errorf("%d goroutines, %d before", n, routines)
	}
}

func TestBusyMountIsDetached(t *testing.T) {
	source := t.TempDir()
	writeRandom(t, source, "data", 10)
	m, err := New(source, t.TempDir(), Speed{AtOnce: 1})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(m.dir + "/data")
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Unmount(); err == nil || !strings.Contains(err.Error(), m.dir) {
		t.Errorf("unmounting a busy mount: %v", err)
	}
	if mounted(t, m.dir) {
		t.Error("still mounted")
	}
	f.Close()
	m.Wait()
}

func TestRefuses(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	good := Speed{AtOnce: 1}
	for name, try := range map[string]func() (*Mount, error){
		"no source":       func() (*Mount, error) { return New(file+"x", t.TempDir(), good) },
		"a file":          func() (*Mount, error) { return New(file, t.TempDir(), good) },
		"no mount point":  func() (*Mount, error) { return New(t.TempDir(), file+"x", good) },
		"nothing at once": func() (*Mount, error) { return New(t.TempDir(), t.TempDir(), Speed{}) },
	} {
		if _, err := try(); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
