package h5backend

import (
	"errors"
	"fmt"
)

var (
	// ErrInput is in every error that the user can mend: wrong path, dataset, type or shape.
	ErrInput = errors.New("input cannot be used")
	// ErrStale is in the error of every read of a file that changed since Open.
	ErrStale = errors.New("file changed since it was opened; mount it again")
)

// inputError is an ErrInput whose text is only what the user needs.
type inputError struct{ text string }

func (e *inputError) Error() string        { return e.text }
func (e *inputError) Is(target error) bool { return target == ErrInput }

func inputf(format string, args ...any) error {
	return &inputError{fmt.Sprintf(format, args...)}
}

// ReadError says which sample could not be read, and where it stands.
type ReadError struct {
	File   string // absolute path
	Field  string // dataset path
	Sample uint32 // over all files
	Chunk  int64  // along axis 0 of this file's dataset; -1 where it has no chunks
	Err    error
}

func (e *ReadError) Error() string {
	if e.Chunk < 0 {
		return fmt.Sprintf("%s: dataset %s, sample %d: %v", e.File, e.Field, e.Sample, e.Err)
	}
	return fmt.Sprintf("%s: dataset %s, chunk %d, sample %d: %v", e.File, e.Field, e.Chunk, e.Sample, e.Err)
}

func (e *ReadError) Unwrap() error { return e.Err }
