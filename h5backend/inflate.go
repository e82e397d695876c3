package h5backend

/*
#cgo LDFLAGS: -ldeflate
#include <libdeflate.h>
*/
import "C"

import (
	"fmt"
	"runtime"
	"unsafe"
)

// inflater decodes zlib streams by libdeflate. One goroutine at a time may use it.
type inflater struct {
	c *C.struct_libdeflate_decompressor
}

func newInflater() *inflater {
	c := C.libdeflate_alloc_decompressor()
	if c == nil {
		panic("libdeflate: out of memory")
	}
	f := &inflater{c}
	runtime.AddCleanup(f, func(c *C.struct_libdeflate_decompressor) { C.libdeflate_free_decompressor(c) }, c)
	return f
}

// inflate decodes src, whose checksum it verifies, into exactly len(dst) bytes.
func (f *inflater) inflate(dst, src []byte) error {
	if len(src) == 0 || len(dst) == 0 {
		return fmt.Errorf("gzip data of %d bytes for %d decoded ones", len(src), len(dst))
	}
	var got C.size_t
	rc := C.libdeflate_zlib_decompress(f.c, unsafe.Pointer(&src[0]), C.size_t(len(src)), unsafe.Pointer(&dst[0]), C.size_t(len(dst)), &got)
	runtime.KeepAlive(f)
	if rc != C.LIBDEFLATE_SUCCESS || int(got) != len(dst) {
		return fmt.Errorf("gzip data are corrupt (libdeflate code %d, %d of %d bytes)", int(rc), int(got), len(dst))
	}
	return nil
}
