package h5backend

/*
#cgo linux,amd64 CFLAGS:  -I/usr/include/hdf5/serial
#cgo linux,amd64 LDFLAGS: -L/usr/lib/x86_64-linux-gnu/hdf5/serial -lhdf5
#cgo linux,arm64 CFLAGS:  -I/usr/include/hdf5/serial
#cgo linux,arm64 LDFLAGS: -L/usr/lib/aarch64-linux-gnu/hdf5/serial -lhdf5
#include "libhdf5.h"
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"unsafe"

	"gonum.org/v1/hdf5"
)

// lib is libhdf5, which has one global lock anyway. Its mutex keeps goroutines from
// queueing inside C, where each would hold an OS thread.
var lib struct {
	sync.Mutex
	prepared sync.Once
}

// inLib runs f with libhdf5 to itself and on one OS thread: the error stack and the
// switch for printing it belong to the thread. f must not call inLib.
func inLib(f func() error) error {
	lib.Lock()
	defer lib.Unlock()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	lib.prepared.Do(func() {
		// A lock would fail on many network file systems, and keep writers out. A changed file is found by its stat.
		os.Setenv("HDF5_USE_FILE_LOCKING", "FALSE")
		C.sf_tame_malloc()
	})
	C.sf_quiet()
	return f()
}

// lastError is the text of libhdf5's failure just before, inside the same inLib.
func lastError() error {
	var text [1024]C.char
	C.sf_error(&text[0], C.size_t(len(text)))
	if s := C.GoString(&text[0]); s != "" {
		return errors.New(s)
	}
	return errors.New("libhdf5 gives no reason")
}

// libInfo is what libhdf5 says about one dataset.
type libInfo struct {
	space, class, layout int
	dims, chunk          []uint64
	typ                  storedType
	filters              []filter
	offset, storage      uint64
	header               uint64 // of the object, without the user block
	fileno               uint64
	external             bool
	rawEdge              bool // chunks that reach over the end are stored without filters
}

const undefined = ^uint64(0) // HDF5's undefined address

func describe(ds *hdf5.Dataset) (libInfo, error) {
	var c C.sf_info
	if C.sf_describe(C.hid_t(ds.ID()), &c) < 0 {
		return libInfo{}, lastError()
	}
	in := libInfo{
		space: int(c.space), class: int(c._type), layout: int(c.layout),
		offset: uint64(c.offset), storage: uint64(c.storage), header: uint64(c.header), fileno: uint64(c.fileno),
		external: c.external > 0, rawEdge: c.chunk_opts&C.H5D_CHUNK_DONT_FILTER_PARTIAL_CHUNKS != 0,
		typ: storedType{
			class: int(c._type), size: uint64(c.size), precision: uint64(c.precision), bitOffset: uint64(c.bit_offset),
			bigEndian: c.order == C.H5T_ORDER_BE, plainOrder: c.order == C.H5T_ORDER_BE || c.order == C.H5T_ORDER_LE,
			signed: c.is_signed != 0, variable: c.is_variable != 0, impliedOne: c.implied_one != 0,
			float: floatLayout{uint64(c.sign_pos), uint64(c.exp_pos), uint64(c.exp_size), uint64(c.man_pos), uint64(c.man_size), uint64(c.exp_bias)},
		},
	}
	for i := range int(c.rank) {
		in.dims = append(in.dims, uint64(c.dims[i]))
		if in.layout == layoutChunked {
			in.chunk = append(in.chunk, uint64(c.chunk[i]))
		}
	}
	for i := range int(c.nfilters) {
		f := &c.filters[i]
		in.filters = append(in.filters, filter{id: int(f.id), name: C.GoString(&f.name[0]), available: f.available != 0, value: uint32(f.values[0])})
	}
	return in, nil
}

// link is one entry of a group.
type link struct {
	name            string
	external        bool
	object          int // H5O_type_t, -1: unresolved
	address, fileno uint64
}

// list gives the entries of a group in the order of their names. libhdf5's query by index, which gonum uses, costs O(n) for each.
func list(g *hdf5.Group) ([]link, error) {
	var c C.sf_links
	defer C.sf_free_links(&c)
	if C.sf_list(C.hid_t(g.ID()), &c) < 0 {
		return nil, lastError()
	}
	out := make([]link, 0, int(c.n))
	for _, l := range unsafe.Slice(c.at, int(c.n)) {
		out = append(out, link{C.GoString(l.name), l.link == C.H5L_TYPE_EXTERNAL, int(l._type), uint64(l.address), uint64(l.fileno)})
	}
	return out, nil
}

// fileLayout says where addresses count from, and whether they have the usual 8 bytes.
type fileLayout struct {
	userBlock uint64
	wide      bool
	root      uint64 // address of the root group
	fileno    uint64 // libhdf5's number of the open file; a dataset behind an external link has another
}

func layoutOf(f *hdf5.File) (fileLayout, error) {
	var c C.sf_file_info
	if C.sf_file(C.hid_t(f.ID()), &c) < 0 {
		return fileLayout{}, lastError()
	}
	return fileLayout{uint64(c.user_block), c.addr_bytes == 8 && c.length_bytes == 8, uint64(c.root), uint64(c.fileno)}, nil
}

// readRows reads rows of axis 0 by H5Dread, in native byte order. rowBytes is the size of one.
func readRows(ds *hdf5.Dataset, row, rows uint64, rowBytes int, dst []byte) error {
	if rows == 0 || uint64(len(dst)) != rows*uint64(rowBytes) {
		return fmt.Errorf("buffer of %d bytes for %d rows of %d", len(dst), rows, rowBytes)
	}
	if C.sf_read_rows(C.hid_t(ds.ID()), C.uint64_t(row), C.uint64_t(rows), unsafe.Pointer(&dst[0])) < 0 {
		return lastError()
	}
	return nil
}

// rawChunk gives a chunk's stored bytes and filter mask by H5Dread_chunk; at is the chunk's first element.
func rawChunk(ds *hdf5.Dataset, at []uint64, limit uint64) ([]byte, uint32, error) {
	pos := (*C.hsize_t)(unsafe.Pointer(&at[0]))
	var size C.uint64_t
	var mask C.uint32_t
	if C.sf_chunk_size(C.hid_t(ds.ID()), pos, &size) < 0 {
		return nil, 0, lastError()
	}
	if size == 0 || uint64(size) > limit {
		return nil, 0, fmt.Errorf("chunk of %d bytes, more than %d are not possible", uint64(size), limit)
	}
	buf := make([]byte, size)
	if C.sf_read_chunk(C.hid_t(ds.ID()), pos, &mask, unsafe.Pointer(&buf[0])) < 0 {
		return nil, 0, lastError()
	}
	return buf, uint32(mask), nil
}

// Values of libhdf5's enums that other files switch on.
const (
	layoutCompact    = C.H5D_COMPACT
	layoutContiguous = C.H5D_CONTIGUOUS
	layoutChunked    = C.H5D_CHUNKED
	layoutVirtual    = C.H5D_VIRTUAL

	spaceSimple = C.H5S_SIMPLE

	objectGroup   = C.H5O_TYPE_GROUP
	objectDataset = C.H5O_TYPE_DATASET

	classInteger = C.H5T_INTEGER
	classFloat   = C.H5T_FLOAT
)
