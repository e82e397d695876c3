package h5backend

import (
	"encoding/binary"
	"fmt"
)

// storedType is a dataset's element type as it is in the file.
type storedType struct {
	class                      int
	size, precision, bitOffset uint64
	bigEndian, plainOrder      bool
	signed, variable           bool
	impliedOne                 bool
	float                      floatLayout
}

// floatLayout gives bit positions and sizes.
type floatLayout struct{ sign, exp, expSize, man, manSize, bias uint64 }

// ieee: the three formats of IEEE 754 that numpy has on every machine, by size in bytes.
var ieee = map[uint64]floatLayout{
	2: {15, 10, 5, 0, 10, 15},
	4: {31, 23, 8, 0, 23, 127},
	8: {63, 52, 11, 0, 52, 1023},
}

var nativeIsBig = binary.NativeEndian.Uint16([]byte{0, 1}) == 1

// numpy gives the dtype in the file's byte order, or why the type cannot be that of a field.
func (t storedType) numpy() (string, error) {
	kind := ""
	switch {
	case t.variable:
		return "", fmt.Errorf("variable length: store it with a fixed size per sample")
	case t.class == classInteger && t.intSize():
		kind = "u"
		if t.signed {
			kind = "i"
		}
	case t.class == classFloat && t.float == ieee[t.size] && t.impliedOne:
		kind = "f"
	default:
		return "", fmt.Errorf("type %s: store it as integer or float of 8, 16, 32 or 64 bits", t.className())
	}
	if t.precision != 8*t.size || t.bitOffset != 0 || !t.plainOrder && t.size > 1 {
		return "", fmt.Errorf("%d-bit numbers in %d bytes: store them with all bits", t.precision, t.size)
	}
	return fmt.Sprintf("%s%s%d", orderMark(t.size, t.bigEndian), kind, t.size), nil
}

func (t storedType) intSize() bool { return t.size == 1 || t.size == 2 || t.size == 4 || t.size == 8 }

// native is the dtype that samples are handed on in.
func native(dtype string) string {
	if dtype[0] == '|' {
		return dtype
	}
	return orderMark(2, nativeIsBig) + dtype[1:]
}

// swapped tells whether stored values have the other byte order than this machine.
func (t storedType) swapped() bool { return t.size > 1 && t.bigEndian != nativeIsBig }

func orderMark(size uint64, big bool) string {
	switch {
	case size == 1:
		return "|"
	case big:
		return ">"
	}
	return "<"
}

// className names libhdf5's type class, in the order of H5T_class_t.
func (t storedType) className() string {
	names := []string{"integer", "float", "time", "string", "bitfield", "opaque", "compound", "reference", "enum (h5py's bool)", "variable length", "array"}
	switch {
	case t.class < 0 || t.class >= len(names):
		return "unknown"
	case t.class == classInteger || t.class == classFloat:
		return fmt.Sprintf("%s of %d bytes", names[t.class], t.size)
	}
	return names[t.class]
}
