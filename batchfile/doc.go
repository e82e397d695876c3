// Package batchfile says how the bytes of a batch file are made up: literal
// bytes (the format's header) and sample slots, one row after the other. It is
// pure: it computes layouts and reads nothing. A layout is exact before any
// sample is read, so a file's size never changes.
package batchfile
