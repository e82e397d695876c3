// Package examples holds the PyTorch scripts that show solarfs at work. They
// are ordinary programs; "solarfs demo" writes them out and runs them.
package examples

import "embed"

// Scripts holds the Python files of this directory by their names.
//
//go:embed *.py
var Scripts embed.FS
