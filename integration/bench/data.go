package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// dataset is a file of Samples pictures of Side x Side float32.
type dataset struct {
	Name    string
	Text    string
	Samples int
	Side    int
	Chunk   int // samples in a compressed chunk; 0: contiguous
	Batch   int // samples in a batch, of every system
}

var datasets = []dataset{
	{"c64", "64 KiB contiguous", 12000, 128, 0, 64},
	{"c1m", "1 MiB contiguous", 2048, 512, 0, 16},
	{"g1", "64 KiB gzip", 12000, 128, 1, 64},
	{"g16", "64 KiB gzip, 16 a chunk", 12000, 128, 16, 64},
	{"big", "64 KiB contiguous, 2.6 GB", 40000, 128, 0, 64},
}

func datasetNames() (names []string) {
	for _, d := range datasets {
		names = append(names, d.Name)
	}
	return names
}

// sampleBytes is the size of a sample as a script sees it.
func (d dataset) sampleBytes() int64 { return int64(d.Side) * int64(d.Side) * 4 }

func (d dataset) bytes() int64 { return int64(d.Samples) * d.sampleBytes() }

func (d dataset) batchBytes() int64 { return int64(d.Batch) * d.sampleBytes() }

// steps are the batches of an epoch.
func (d dataset) steps() int { return (d.Samples + d.Batch - 1) / d.Batch }

func (d dataset) file() string { return fmt.Sprintf("x%d-n%d-c%d.h5", d.Side, d.Samples, d.Chunk) }

// make makes the file in the cache directory unless it is there, and returns its path.
func (b *bench) make(ctx context.Context, d dataset) (string, error) {
	path := filepath.Join(b.cache, d.file())
	_, err := os.Stat(path)
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return path, err
	}
	if err := os.MkdirAll(b.cache, 0o755); err != nil {
		return "", fmt.Errorf("make the directory for data: %w; name another with --cache", err)
	}
	b.say("making %s: %d samples, %d MB", path, d.Samples, d.bytes()/1e6)
	b.atEnd(func() error { return removed(path + ".part") })
	_, err = b.output(b.python(ctx, nil, "make.py", path, d.Samples, d.Side, d.Chunk))
	return path, err
}

func removed(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// uncache takes a file out of the page cache, and nothing else: programs and libraries stay there.
func uncache(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED); err != nil {
		return fmt.Errorf("take %s out of the page cache: %w", path, err)
	}
	return nil
}
