package slowfs

import (
	"context"
	"encoding/json"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// ControlName is a file in the mount's root that holds the counts as JSON. No
// directory lists it, it takes no time, and reading it is not counted.
const ControlName = ".slowfs"

// controlInode is a number that no file system gives its files.
const controlInode = 1<<63 - 2

// control is the file of counts.
type control struct {
	fs.Inode
	store *store
}

var (
	_ fs.NodeGetattrer = (*control)(nil)
	_ fs.NodeOpener    = (*control)(nil)
)

func (s *store) newControl(ctx context.Context, root *fs.Inode, out *fuse.EntryOut) *fs.Inode {
	c := &control{store: s}
	c.attr(&out.Attr)
	return root.NewInode(ctx, c, fs.StableAttr{Mode: syscall.S_IFREG, Ino: controlInode})
}

func (c *control) attr(out *fuse.Attr) {
	out.Ino, out.Mode, out.Nlink, out.Size = controlInode, syscall.S_IFREG|0o444, 1, uint64(len(c.text()))
}

func (c *control) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	c.attr(&out.Attr)
	return 0
}

// Open takes the counts as they are; all reads of the open file show the same.
func (c *control) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return text(c.text()), fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

func (c *control) text() []byte {
	line, err := json.Marshal(c.store.counts())
	if err != nil {
		panic(err) // two numbers can be written
	}
	return append(line, '\n')
}

// text is an open file whose bytes are known.
type text []byte

func (t text) Read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, syscall.Errno) {
	off = min(off, int64(len(t)))
	return fuse.ReadResultData(t[off:min(off+int64(len(buf)), int64(len(t)))]), 0
}
