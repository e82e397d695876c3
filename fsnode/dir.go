package fsnode

import "github.com/hanwen/go-fuse/v2/fuse"

// OpenDir lets the kernel keep the listing: it never changes.
func (f *FS) OpenDir(_ <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	if n, ok := f.tree.node(in.NodeId); !ok || !n.isDir() {
		return fuse.ENOTDIR
	}
	out.OpenFlags = fuse.FOPEN_CACHE_DIR | fuse.FOPEN_KEEP_CACHE
	return fuse.OK
}

// ReadDir lists a directory from entry in.Offset on. Entries are computed, so a
// directory of any size costs the same memory.
func (f *FS) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	dir, ok := f.tree.node(in.NodeId)
	if !ok {
		return fuse.ENOENT
	}
	for i := int(in.Offset); i < f.tree.entries(dir)+2; i++ {
		name, n := ".", dir
		switch i {
		case 0:
		case 1:
			name, n = "..", f.tree.parent(dir)
		default:
			n = f.tree.entry(dir, i-2)
			name = f.tree.name(n)
		}
		mode := uint32(fuse.S_IFREG)
		if n.isDir() {
			mode = fuse.S_IFDIR
		}
		if !out.AddDirEntry(fuse.DirEntry{Name: name, Mode: mode, Ino: f.tree.number(n)}) {
			break
		}
	}
	return fuse.OK
}

// ReleaseDir has nothing to let go of.
func (f *FS) ReleaseDir(*fuse.ReleaseIn) {}
