package h5backend

import (
	"os"

	"gonum.org/v1/hdf5"
)

// libFile is a file opened by libhdf5. All methods must run inLib.
type libFile struct {
	*hdf5.File
	layout fileLayout
}

// has tells whether there is a dataset at a path.
func (f *libFile) has(path string) bool {
	ds, err := f.OpenDataset("/" + path)
	if err != nil {
		return false
	}
	ds.Close()
	return true
}

// libPart is an open dataset. It is used inLib only; ds is nil once it is closed.
type libPart struct {
	ds    *hdf5.Dataset
	cache int // bytes of its chunk cache
}

func (l *libPart) read(row, bytes int, dst []byte) error {
	return inLib(func() error {
		if l.ds == nil {
			return os.ErrClosed
		}
		return readRows(l.ds, uint64(row), 1, bytes, dst)
	})
}

func (l *libPart) close() {
	if l.ds != nil {
		l.ds.Close()
		l.ds = nil
	}
}

const (
	minLibCache = 1 << 20 // libhdf5's default
	maxLibCache = 64 << 20
)

// libCache is the chunk cache with which libhdf5 decodes each chunk once while rows are read in order:
// all chunks that one row goes through.
func libCache(in libInfo) int {
	if in.layout != layoutChunked {
		return 0
	}
	n := in.typ.size * in.chunk[0]
	for i, d := range in.dims[1:] {
		c := max(in.chunk[i+1], 1)
		whole := (d + c - 1) / c * c
		if n > maxLibCache/whole {
			return maxLibCache
		}
		n *= whole
	}
	return int(min(max(n, minLibCache), maxLibCache))
}

// openLibPart opens a dataset for reading by libhdf5 with a chunk cache of its own size.
func openLibPart(f *hdf5.File, path string, in libInfo) (*libPart, error) {
	access, err := hdf5.NewPropList(hdf5.P_DATASET_ACCESS)
	if err != nil {
		return nil, lastError()
	}
	defer access.Close()
	l := &libPart{cache: libCache(in)}
	// The last argument, 0, is least-recently-used. With 1, libhdf5 1.10 never evicts a chunk that was read in
	// part (H5D__chunk_cache_prune), and the cache outgrows its limit.
	if err := access.SetChunkCache(hdf5.D_CHUNK_CACHE_NSLOTS_DEFAULT, l.cache, 0); err != nil {
		return nil, lastError()
	}
	if l.ds, err = f.OpenDatasetWith(path, access); err != nil {
		return nil, lastError()
	}
	return l, nil
}
