// Package integration tests solarfs end to end: real mounts, real HDF5 files,
// and clients that are processes of their own. A process that touches its own
// mount can deadlock, so nothing here reads a mount from within the tests but
// through the built program and Python.
package integration
