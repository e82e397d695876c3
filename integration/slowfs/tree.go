package slowfs

import (
	"context"
	"os"
	"path/filepath"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

// node is a file or directory of the source, or a link there. It has the source's
// attributes, inode number included, and no way to change anything.
type node struct {
	fs.Inode
	store *store
}

var (
	_ fs.NodeLookuper   = (*node)(nil)
	_ fs.NodeGetattrer  = (*node)(nil)
	_ fs.NodeReaddirer  = (*node)(nil)
	_ fs.NodeReadlinker = (*node)(nil)
	_ fs.NodeOpener     = (*node)(nil)
	_ fs.NodeStatfser   = (*node)(nil)
)

func (n *node) path() string { return filepath.Join(n.store.source, n.Path(nil)) }

// Lookup finds a name. Nothing is kept in a node, so it does not matter whether an
// inode number is used anew in the source; the device tells apart equal numbers.
func (n *node) Lookup(ctx context.Context, name string, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	if n.IsRoot() && name == ControlName {
		return n.store.newControl(ctx, &n.Inode, out), 0
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(filepath.Join(n.path(), name), &st); err != nil {
		return nil, fs.ToErrno(err)
	}
	out.FromStat(&st)
	id := fs.StableAttr{Mode: st.Mode & syscall.S_IFMT, Ino: st.Ino, Gen: st.Dev}
	return n.NewInode(ctx, &node{store: n.store}, id), 0
}

// Getattr asks the open file where there is one, as its name may be another's by now.
func (n *node) Getattr(ctx context.Context, open fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	if f, ok := open.(*file); ok {
		return f.Getattr(ctx, out)
	}
	var st syscall.Stat_t
	if err := syscall.Lstat(n.path(), &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStat(&st)
	return 0
}

func (n *node) Readdir(context.Context) (fs.DirStream, syscall.Errno) {
	return fs.NewLoopbackDirStream(n.path())
}

func (n *node) Readlink(context.Context) ([]byte, syscall.Errno) {
	target, err := os.Readlink(n.path())
	return []byte(target), fs.ToErrno(err)
}

// Open opens a file past the page cache.
func (n *node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	source, err := n.store.open(n.path())
	if err != nil {
		return nil, 0, fs.ToErrno(err)
	}
	return &file{source: source, store: n.store}, fuse.FOPEN_DIRECT_IO | fuse.FOPEN_NOFLUSH, 0
}

func (n *node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	var st syscall.Statfs_t
	if err := syscall.Statfs(n.store.source, &st); err != nil {
		return fs.ToErrno(err)
	}
	out.FromStatfsT(&st)
	return 0
}
