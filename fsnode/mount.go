package fsnode

import (
	"fmt"
	"log"
	"log/slog"
	"os"

	"github.com/hanwen/go-fuse/v2/fuse"
)

// MountOptions are the user's part of the mount options.
type MountOptions struct {
	AllowOther bool
	Options    []string // as behind -o
	Source     string   // what df and mount show as the device
	Debug      bool     // log every kernel request
}

// Mounted is a live mount. It ends when it is unmounted.
type Mounted struct{ server *fuse.Server }

// Wait returns when the mount is gone and no request is being answered.
func (m *Mounted) Wait() { m.server.Wait() }

// Mount mounts the file system on dir and serves it; the mount answers when
// Mount returns.
func (f *FS) Mount(dir string, o MountOptions) (*Mounted, error) {
	server, err := fuse.NewServer(f, dir, &fuse.MountOptions{
		AllowOther: o.AllowOther,
		// The kernel checks permissions alone: no ACCESS requests.
		Options: append([]string{"ro", "default_permissions"}, o.Options...),
		FsName:  o.Source,
		Name:    "solarfs",
		// Root needs no helper program, whose complaint would hide the kernel's.
		DirectMountStrict: os.Geteuid() == 0,
		// One request carries up to 1 MiB, the most the kernel sends.
		MaxWrite:      1 << 20,
		MaxBackground: 64,
		// An entry costs a LOOKUP only when it is used.
		DisableReadDirPlus: true,
		DisableXAttrs:      true,
		// Every reply from memory would first take a pipe and give up.
		DisableSplice: true,
		// Loaders map batch files; without this, mmap of direct I/O files fails.
		ExtraCapabilities: fuse.CAP_DIRECT_IO_ALLOW_MMAP,
		// No page is dropped or checked again because a time seems to change.
		ExplicitDataCacheControl: true,
		Logger:                   log.New(slogLines{f.cfg.Log}, "", 0),
		Debug:                    o.Debug,
	})
	if err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	go server.Serve()
	if err := server.WaitMount(); err != nil {
		return nil, fmt.Errorf("mount on %s: %w", dir, err)
	}
	return &Mounted{server}, nil
}

// slogLines gives go-fuse's log lines to slog.
type slogLines struct{ log *slog.Logger }

func (s slogLines) Write(line []byte) (int, error) {
	s.log.Warn("fuse", "line", string(line))
	return len(line), nil
}
