package fsnode

import (
	"context"
	"os"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// Lookup finds a name in a directory.
func (f *FS) Lookup(cancel <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	dir, ok := f.tree.node(header.NodeId)
	if !ok {
		return fuse.ENOENT
	}
	n, ok := f.tree.child(dir, name)
	if !ok {
		return fuse.ENOENT
	}
	ctx := &fuse.Context{Caller: header.Caller, Cancel: cancel}
	holds, err := f.attr(ctx, n, &out.Attr)
	if err != nil {
		return f.failed(ctx, n, err)
	}
	out.NodeId = f.tree.number(n)
	out.SetEntryTimeout(forever)
	out.SetAttrTimeout(holds)
	return fuse.OK
}

// GetAttr tells size and mode; no data is read for it.
func (f *FS) GetAttr(cancel <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	n, ok := f.tree.node(in.NodeId)
	if !ok {
		return fuse.ENOENT
	}
	ctx := &fuse.Context{Caller: in.Caller, Cancel: cancel}
	holds, err := f.attr(ctx, n, &out.Attr)
	if err != nil {
		return f.failed(ctx, n, err)
	}
	out.SetTimeout(holds)
	return fuse.OK
}

// attr fills in a node's attributes and says how long they hold.
func (f *FS) attr(ctx context.Context, n node, out *fuse.Attr) (time.Duration, error) {
	out.Ino = f.tree.number(n)
	out.Nlink = 1
	out.Mode = fuse.S_IFREG | 0o444
	out.Owner = fuse.Owner{Uid: uint32(os.Getuid()), Gid: uint32(os.Getgid())}
	out.SetTimes(&f.cfg.Made, &f.cfg.Made, &f.cfg.Made)
	if n.isDir() {
		out.Nlink = 2
		out.Mode = fuse.S_IFDIR | 0o555
		return forever, nil
	}
	holds := forever
	if n.kind == kindControl {
		holds = 0 // its content moves on
	}
	size, err := f.size(ctx, n)
	out.Size = uint64(size)
	out.Blocks = (out.Size + 511) / 512
	return holds, err
}

// size is a file's size in bytes, exact before any read. Where batches are
// uneven it takes the epoch's plan.
func (f *FS) size(ctx context.Context, n node) (int64, error) {
	spec := f.cfg.Spec
	switch n.kind {
	case kindSamples:
		return samplesLayout(spec).Size(), nil
	case kindWeights:
		return weightsLayout(spec).Size(), nil
	case kindControl:
		return int64(len(f.cfg.Controls[n.column].Content())), nil
	}
	if !f.equal() {
		ep, err := f.cfg.Cache.Samples(ctx, n.epoch)
		if err != nil {
			return 0, err
		}
		return f.cfg.Cache.Layout(n.column, ep.Rows(n.step, n.rank)).Size(), nil
	}
	if spec.Rows(n.step) == spec.BatchSize {
		return f.sizes[n.column][0], nil
	}
	return f.sizes[n.column][1], nil
}

// equal tells whether all batches of a step have the same number of rows.
func (f *FS) equal() bool { return f.cfg.Spec.MaxImbalance == 0 }
