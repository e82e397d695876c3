package fsnode

import (
	"context"
	"errors"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fuse"

	"solarfs/cache"
)

// status maps an error to what the kernel tells the reader: EINTR for a reader
// that was interrupted, ESTALE for a source that changed, EIO for the rest.
func status(err error) fuse.Status {
	switch {
	case err == nil:
		return fuse.OK
	case errors.Is(err, context.Canceled):
		return fuse.EINTR
	case errors.Is(err, cache.ErrStale):
		return fuse.Status(syscall.ESTALE)
	}
	return fuse.EIO
}

// failed is the status of a request about a node whose epoch's plan could not be
// made, and logs why, unless the reader has gone.
func (f *FS) failed(ctx context.Context, n node, err error) fuse.Status {
	if ctx.Err() == nil {
		f.cfg.Log.Error("no plan of the epoch could be made", "epoch", n.epoch, "err", err)
	}
	return status(err)
}
