package fsnode

import (
	"context"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"solarfs/cache"
)

// ownHandles is where the handles of files begin that are open once each. A
// batch's handle is its node's number, shared by all its readers: an inode must
// not be open in passthrough and through the daemon at once.
const ownHandles = 1 << 63

// content is what can be read from an open file.
type content interface {
	// read returns the bytes of [off, off+len(buf)), clipped to the file; buf
	// may be used for them.
	read(ctx context.Context, buf []byte, off int64) (fuse.ReadResult, error)
	close()
}

// openFile is one entry of the table of open files.
type openFile struct {
	content content
	opens   int
	backing int32 // the kernel's name for the memory file it reads itself
}

// Open opens a file. A batch's open waits until the batch is made.
func (f *FS) Open(cancel <-chan struct{}, in *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	n, ok := f.tree.node(in.NodeId)
	if !ok || n.isDir() {
		return fuse.EISDIR
	}
	if in.Flags&syscall.O_ACCMODE != syscall.O_RDONLY {
		return fuse.EROFS
	}
	ctx := &fuse.Context{Caller: in.Caller, Cancel: cancel}
	out.OpenFlags = fuse.FOPEN_NOFLUSH
	switch n.kind {
	case kindBatch:
		return f.openBatch(ctx, n, out)
	case kindSamples, kindWeights:
		array, err := f.array(ctx, n)
		if err != nil {
			return f.failed(ctx, n, err)
		}
		out.OpenFlags |= fuse.FOPEN_KEEP_CACHE
		out.Fh = f.addFile(array)
	case kindControl:
		out.OpenFlags |= fuse.FOPEN_DIRECT_IO // its size may differ from one open to the next
		out.Fh = f.addFile(snapshot(f.cfg.Controls[n.column].Content()))
	}
	return fuse.OK
}

// array makes samples.npy or weights.npy.
func (f *FS) array(ctx context.Context, n node) (content, error) {
	if n.kind == kindWeights && f.equal() {
		return &weightsFile{spec: f.cfg.Spec}, nil
	}
	ep, err := f.cfg.Cache.Samples(ctx, n.epoch)
	if n.kind == kindWeights {
		return &weightsFile{spec: f.cfg.Spec, epoch: ep, rank: n.rank}, err
	}
	return &samplesFile{spec: f.cfg.Spec, epoch: ep, rank: n.rank}, err
}

func (f *FS) addFile(c content) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	fh := f.mu.next
	f.mu.next++
	f.mu.files[fh] = &openFile{content: c, opens: 1}
	return fh
}

func (f *FS) openBatch(ctx context.Context, n node, out *fuse.OpenOut) fuse.Status {
	h, err := f.cfg.Cache.Open(ctx, cache.BatchID{Epoch: n.epoch, Step: n.step, Rank: n.rank, Field: n.column})
	if err != nil {
		return status(err)
	}
	out.Fh = f.tree.number(n)
	file := f.shareBatch(out.Fh, h)
	if file.backing != 0 {
		out.OpenFlags |= fuse.FOPEN_PASSTHROUGH
		out.BackingID = file.backing
	} else {
		out.OpenFlags |= fuse.FOPEN_DIRECT_IO
	}
	return fuse.OK
}

// shareBatch counts one more reader of a batch. The first one's way of being
// served is everybody's until all have closed it.
func (f *FS) shareBatch(fh uint64, h *cache.Handle) *openFile {
	f.mu.Lock()
	defer f.mu.Unlock()
	if file := f.mu.files[fh]; file != nil {
		file.opens++
		h.Close()
		return file
	}
	file := &openFile{content: batch{h}, opens: 1}
	f.mu.files[fh] = file
	if !f.passthrough {
		return file
	}
	if m := h.Lend(); m != nil {
		id, errno := f.server.RegisterBackingFd(&fuse.BackingMap{Fd: int32(m.Fd())})
		if errno == 0 {
			file.backing = id
		} else {
			f.cfg.Log.Warn("the kernel refused to read a batch by itself", "err", errno)
		}
	}
	return file
}

// Read serves what the kernel does not read by itself.
func (f *FS) Read(cancel <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	f.mu.Lock()
	file := f.mu.files[in.Fh]
	f.mu.Unlock()
	if file == nil {
		return nil, fuse.EBADF
	}
	res, err := file.content.read(&fuse.Context{Caller: in.Caller, Cancel: cancel}, buf, int64(in.Offset))
	if err != nil {
		return nil, status(err) // with a result beside it, go-fuse would answer success
	}
	return res, fuse.OK
}

// Release closes a file for one reader. A mapping of a batch may outlive it,
// which the cache looks for before it uses the memory again.
func (f *FS) Release(_ <-chan struct{}, in *fuse.ReleaseIn) {
	f.mu.Lock()
	file := f.mu.files[in.Fh]
	last := false
	if file != nil {
		file.opens--
		if last = file.opens == 0; last {
			delete(f.mu.files, in.Fh)
		}
	}
	f.mu.Unlock()
	if !last {
		return
	}
	if file.backing != 0 {
		if errno := f.server.UnregisterBackingFd(file.backing); errno != 0 {
			f.cfg.Log.Warn("a batch stays registered with the kernel", "err", errno)
		}
	}
	file.content.close()
}

// Flush is answered so that the kernel does not ask again in this mount.
func (f *FS) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.ENOSYS }

// batch reads a batch file that goes through the daemon.
type batch struct{ h *cache.Handle }

func (b batch) read(ctx context.Context, buf []byte, off int64) (fuse.ReadResult, error) {
	if data := b.h.Bytes(off, len(buf)); data != nil {
		return fuse.ReadResultData(data), nil // the file stays until RELEASE, which comes after the reply
	}
	n, err := b.h.ReadAt(ctx, buf, off)
	return fuse.ReadResultData(buf[:n]), err
}

func (b batch) close() { b.h.Close() }

// snapshot is a file whose bytes are known.
type snapshot []byte

func (s snapshot) read(_ context.Context, buf []byte, off int64) (fuse.ReadResult, error) {
	off = min(off, int64(len(s)))
	return fuse.ReadResultData(s[off:min(off+int64(len(buf)), int64(len(s)))]), nil
}

func (snapshot) close() {}
