package slowfs

import (
	"context"
	"errors"
	"io"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// file is an open file of the source.
type file struct {
	source *os.File
	store  *store
}

var (
	_ fs.FileReader    = (*file)(nil)
	_ fs.FileGetattrer = (*file)(nil)
	_ fs.FileReleaser  = (*file)(nil)
)

// Read is a request of the store. The source is read while the answer is not yet
// due. Who is interrupted gets his bytes all the same: else a signal would make a
// client ask, and this count, twice.
func (f *file) Read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	size, err := f.within(off, len(buf))
	if err != nil || size == 0 {
		return fuse.ReadResultData(nil), fs.ToErrno(err)
	}
	due := f.store.request(size)
	n, err := f.source.ReadAt(buf[:size], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fs.ToErrno(err)
	}
	f.store.clock.waitUntil(due)
	return fuse.ReadResultData(buf[:n]), 0
}

// within is how many of n bytes at off the file has now.
func (f *file) within(off int64, n int) (int, error) {
	info, err := f.source.Stat()
	if err != nil {
		return 0, err
	}
	return int(max(0, min(int64(n), info.Size()-off))), nil
}

func (f *file) Getattr(_ context.Context, out *fuse.AttrOut) syscall.Errno {
	info, err := f.source.Stat()
	if err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(info.Sys().(*syscall.Stat_t))
	return 0
}

func (f *file) Release(context.Context) syscall.Errno { return fs.ToErrno(f.store.close(f.source)) }
