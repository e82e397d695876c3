package h5backend

import (
	"errors"
	"io"
	"os"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// preader is the part of an open file that samples are read through.
type preader interface {
	// Preadv fills the buffers in turn from offset off, as preadv(2) does: it may read less.
	Preadv(bufs [][]byte, off int64) (int, error)
}

// osFile is a preader of a file of the system. Preadv keeps the descriptor alive through the
// call, so that Close beside it never lets it read another file.
type osFile struct {
	*os.File
	flags *atomic.Int32 // of preadv2
}

func (f osFile) Preadv(bufs [][]byte, off int64) (n int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return 0, err
	}
	ctlErr := conn.Control(func(fd uintptr) {
		for {
			flags := f.flags.Load()
			n, err = unix.Preadv2(int(fd), bufs, off, int(flags))
			switch {
			case flags != 0 && errors.Is(err, unix.EOPNOTSUPP):
				f.flags.Store(0)
			case !errors.Is(err, unix.EINTR):
				return
			}
		}
	})
	if ctlErr != nil {
		return 0, ctlErr
	}
	return max(n, 0), err
}

// DropBehind has the kernel forget what is read of the files, where it can (Linux 6.14, local file systems): for a set that is much larger than
// the memory it has for files. What it remembers of them would hardly be used again, but cuts large reads into several.
func (s *Set) DropBehind() {
	for _, f := range s.files {
		if file, ok := f.src.data.(osFile); ok {
			file.flags.Store(unix.RWF_DONTCACHE)
		}
	}
}

// readFull fills all buffers, at most maxBuffers of them. It consumes bufs.
func readFull(s preader, bufs [][]byte, off int64) error {
	for len(bufs) > 0 {
		n, err := s.Preadv(bufs, off)
		if err != nil {
			return err
		}
		if n == 0 {
			return io.ErrUnexpectedEOF
		}
		off += int64(n)
		for len(bufs) > 0 && n >= len(bufs[0]) {
			n -= len(bufs[0])
			bufs = bufs[1:]
		}
		if n > 0 {
			bufs[0] = bufs[0][n:]
		}
	}
	return nil
}

// maxBuffers is the kernel's limit for one preadv (UIO_MAXIOV).
const maxBuffers = 1024

// identity is what must stay the same while a file is read.
type identity struct {
	dev, ino uint64
	size     int64
	mtime    int64 // ns
}

func identityOf(s *unix.Stat_t) identity {
	return identity{uint64(s.Dev), s.Ino, s.Size, s.Mtim.Nano()}
}

func statPath(path string) (identity, error) {
	var s unix.Stat_t
	if err := unix.Stat(path, &s); err != nil {
		return identity{}, err
	}
	return identityOf(&s), nil
}

// sourceFile is one open file. It is read-only after Open but for stale.
type sourceFile struct {
	path  string
	file  *os.File
	data  preader // file, or what a test puts before it
	seen  identity
	stale atomic.Bool // once true, for good

	decodeRun int64 // bytes of chunks that are read together to be decoded: with a decoded one they take maxDecode
}

func openSource(path string) (*sourceFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, inputf("%s: %v", path, cause(err))
	}
	// What is needed next is known here, and asked for; what the kernel guesses would only be read as well, or cut reads in parts.
	unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM)
	s := &sourceFile{path: path, file: f, data: osFile{f, new(atomic.Int32)}}
	if s.seen, err = s.stat(); err != nil {
		f.Close()
		return nil, inputf("%s: %v", path, err)
	}
	return s, nil
}

func (s *sourceFile) stat() (identity, error) {
	var st unix.Stat_t
	conn, err := s.file.SyscallConn()
	if err != nil {
		return identity{}, err
	}
	ctlErr := conn.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &st) })
	return identityOf(&st), errors.Join(ctlErr, err)
}

// check compares the open file and its path with what they were at Open, and remembers a
// difference. Bytes read before a check that succeeds are the bytes of Open.
func (s *sourceFile) check() error {
	if s.stale.Load() {
		return ErrStale
	}
	now, err := s.stat()
	if errors.Is(err, unix.ESTALE) || err == nil && now != s.seen {
		s.stale.Store(true)
		return ErrStale
	}
	if err != nil {
		return err
	}
	// Replaced or removed: the descriptor still reads the old file, but another node would read the new one.
	at, err := statPath(s.path)
	if errors.Is(err, unix.ENOENT) || err == nil && (at.ino != s.seen.ino || at.dev != s.seen.dev) {
		s.stale.Store(true)
		return ErrStale
	}
	return nil
}
