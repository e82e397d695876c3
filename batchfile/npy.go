package batchfile

import (
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
)

// npyAlign is numpy's alignment of the data behind the header, so that a
// mapped array is aligned for every type.
const npyAlign = 64

// Npy is the layout of a .npy file (format version 1.0, C order) that holds
// rows samples of the given numpy dtype ("<f4") and per-sample shape; the array
// has the shape (rows, sample...). rowBytes is the size of one sample.
// Format: numpy/lib/format.py.
func Npy(dtype string, sample []int, rowBytes, rows int) Layout {
	return Layout{Header: npyHeader(dtype, append([]int{rows}, sample...)), RowBytes: rowBytes, Rows: rows}
}

func npyHeader(dtype string, shape []int) []byte {
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = strconv.Itoa(d)
	}
	tuple := "(" + strings.Join(dims, ", ") + ")"
	if len(dims) == 1 {
		tuple = "(" + dims[0] + ",)"
	}
	dict := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': %s, }", dtype, tuple)
	const before = 10 // magic, version and the length that follow each other
	total := (before + len(dict) + 1 + npyAlign - 1) / npyAlign * npyAlign
	head := make([]byte, 0, total)
	head = append(head, "\x93NUMPY\x01\x00"...)
	head = binary.LittleEndian.AppendUint16(head, uint16(total-before))
	head = append(head, dict...)
	for len(head) < total-1 {
		head = append(head, ' ')
	}
	return append(head, '\n')
}
