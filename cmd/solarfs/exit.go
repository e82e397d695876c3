package main

import (
	"errors"
	"fmt"

	"solarfs/h5backend"
)

// The exit codes, as README lists them.
const (
	exitDone     = 0
	exitFailed   = 1 // failed while running
	exitUse      = 2 // wrong use or input
	exitPoint    = 3 // mount point unusable
	exitMismatch = 4 // plan and data disagree
)

// errSaid is the error of a command whose reason has been printed already.
var errSaid = errors.New("")

// coded is an error that knows the exit code it leads to.
type coded struct {
	error
	code int
}

func (c coded) Unwrap() error { return c.error }

func wrongUse(format string, args ...any) error {
	return coded{fmt.Errorf(format, args...), exitUse}
}

func badPoint(format string, args ...any) error {
	return coded{fmt.Errorf(format, args...), exitPoint}
}

func mismatch(format string, args ...any) error {
	return coded{fmt.Errorf(format, args...), exitMismatch}
}

// exitCode is the code that err leads to.
func exitCode(err error) int {
	var c coded
	switch {
	case errors.As(err, &c):
		return c.code
	case errors.Is(err, h5backend.ErrInput):
		return exitUse
	}
	return exitFailed
}
