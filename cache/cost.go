package cache

import (
	"os"

	"golang.org/x/sys/unix"
)

// maxFiles bounds the memory files of a process. Each takes a descriptor and a
// mapping; the kernel allows 65,530 mappings, and the rest of the program needs
// descriptors, too.
func maxFiles() int64 {
	var files unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &files); err != nil {
		return 256
	}
	return int64(min(max(files.Cur/2, 1), 16384))
}

// cost is what a file of size bytes takes of the limit: whole pages.
func (p *pool) cost(size int) int64 { return max(pages(size), p.least) }

func pages(size int) int64 {
	page := int64(os.Getpagesize())
	return (int64(size) + page - 1) / page * page
}
