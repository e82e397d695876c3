// Package memfd holds files that live in memory only and can be handed to the
// kernel as the backing of a FUSE file.
package memfd

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// File is an anonymous file in memory. Data is its content, mapped shared:
// what is written there is what every reader of the descriptor sees.
// Invariants, from New to Close: len(Data) is the file's size, cap(Data) the
// largest that it may have.
type File struct {
	Data []byte
	fd   int
}

// New makes a file of size bytes, all zero, that may grow to most. Its pages
// are taken on first write.
func New(size, most int) (*File, error) {
	fd, err := unix.MemfdCreate("solarfs-batch", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a memory file: %w", err)
	}
	data, err := unix.Mmap(fd, 0, most, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("map a memory file of %d bytes: %w", most, err)
	}
	f := &File{Data: data[:0], fd: fd}
	if err := f.Resize(size); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Resize gives the file another size, at most cap(Data). Pages beyond it go back
// to the system; what stays of the content is unspecified.
func (f *File) Resize(size int) error {
	if size == len(f.Data) {
		return nil
	}
	if err := unix.Ftruncate(f.fd, int64(size)); err != nil {
		return fmt.Errorf("size a memory file to %d bytes: %w", size, err)
	}
	f.Data = f.Data[:size]
	return nil
}

// Fd is the descriptor, valid until Close.
func (f *File) Fd() int { return f.fd }

// Unused reports that nobody else has the file open or mapped, so that its
// bytes may change. FUSE's RELEASE is no proof of that: it arrives while a
// mapping of the file still lives. A write lease on a fresh read-only
// descriptor is: the kernel refuses it while another reader exists.
func (f *File) Unused() bool {
	fd, err := unix.Open(fmt.Sprintf("/proc/self/fd/%d", f.fd), unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd) // gives the lease back
	_, err = unix.FcntlInt(uintptr(fd), unix.F_SETLEASE, unix.F_WRLCK)
	return err == nil
}

// Close gives the file up. Its pages live on for as long as somebody else maps
// them.
func (f *File) Close() error {
	err := unix.Munmap(f.Data[:cap(f.Data)])
	f.Data = nil
	if e := unix.Close(f.fd); err == nil {
		err = e
	}
	return err
}
