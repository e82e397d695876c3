package slowfs

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"
)

// Mount is a live mount of a slow store. It ends when it is unmounted.
type Mount struct {
	dir    string
	store  *store
	server *fuse.Server
}

// New shows the directory source on the directory dir at the given speed; the
// mount answers when New returns. Who reads a mount of his own process must do so
// with calls that block, not through a mapping, or he can wait for himself.
func New(source, dir string, speed Speed) (*Mount, error) {
	if err := speed.check(); err != nil {
		return nil, err
	}
	var st syscall.Stat_t
	if err := syscall.Stat(source, &st); err != nil {
		return nil, fmt.Errorf("source %s: %w", source, err)
	}
	if st.Mode&syscall.S_IFMT != syscall.S_IFDIR {
		return nil, fmt.Errorf("source %s is no directory; give the one that holds the files", source)
	}
	s := newStore(source, speed)
	server, err := fs.Mount(dir, &node{store: s}, options(source, st.Ino))
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	return &Mount{dir: dir, store: s, server: server}, nil
}

func options(source string, rootInode uint64) *fs.Options {
	// Without timeouts the kernel asks each time: a source that changes is seen at
	// once, and asking costs no storage time.
	return &fs.Options{
		RootStableAttr:  &fs.StableAttr{Ino: rootInode},
		NullPermissions: true, // a mode of 0 is shown, too
		MountOptions: fuse.MountOptions{
			// The kernel checks permissions alone: no ACCESS requests.
			Options: []string{"ro", "default_permissions"},
			FsName:  source,
			Name:    "slowfs",
			// Root needs no helper program, whose complaint would hide the kernel's.
			DirectMountStrict: os.Geteuid() == 0,
			// One request carries up to 1 MiB, the most the kernel sends.
			MaxWrite: 1 << 20,
			// The store limits what is served at once, the kernel does not.
			MaxBackground:      1024,
			DisableReadDirPlus: true,
			DisableXAttrs:      true,
			// Every reply from memory would first take a pipe and give up.
			DisableSplice: true,
			// Without this, mapping files of direct I/O fails.
			ExtraCapabilities: fuse.CAP_DIRECT_IO_ALLOW_MMAP,
		},
	}
}

// Counts is what was asked for since the start or the last Reset.
func (m *Mount) Counts() Counts { return m.store.counts() }

// Reset begins the counts anew and returns what they were.
func (m *Mount) Reset() Counts { return m.store.reset() }

// Wait returns when the mount is gone and no request is being answered.
func (m *Mount) Wait() {
	m.server.Wait()
	m.store.closeAll()
}

// Unmount takes the mount down and waits until it is gone. One that is in use is
// taken out of the tree and an error returned; who has files open keeps them
// while this process lives.
func (m *Mount) Unmount() error {
	err := m.server.Unmount()
	if err == nil {
		m.store.closeAll()
		return nil
	}
	detached := unix.Unmount(m.dir, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW)
	return errors.Join(fmt.Errorf("unmount %s: %w; close the files and shells that use it first", m.dir, err), detached)
}
