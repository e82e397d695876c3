// Package fsnode is the FUSE glue: it turns names and node numbers into
// (epoch, rank, step, field), and kernel requests into calls of package cache.
// It is the only importer of go-fuse.
//
// The tree is arithmetic: a node's number is computed from its place and back,
// so nothing is stored per node, Forget has nothing to do, and numbers are the
// same in every mount of a plan.
package fsnode
