package fsnode

import (
	"log/slog"
	"sync"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"

	"solarfs/cache"
	"solarfs/internal/memfd"
	"solarfs/planner"
)

// forever is how long the kernel may trust names and attributes: the tree never
// changes while it is mounted.
const forever = 365 * 24 * time.Hour

// Control is a file of .solarfs. Content is asked at each open.
type Control struct {
	Name    string
	Content func() []byte
}

// Config is what a mount shows.
type Config struct {
	Spec     planner.Spec
	Fields   []string // names, in the order of the cache's fields
	Node     int
	AllRanks bool
	Cache    *cache.Cache
	Controls []Control
	Made     time.Time // the time that all files show
	Log      *slog.Logger
}

// FS serves one mount. mu guards the open files.
type FS struct {
	fuse.RawFileSystem
	cfg         Config
	tree        *tree
	sizes       [][2]int64 // by field: of a full batch, of a tail batch, where batches are equal
	noPassing   bool       // the user wants no passthrough
	passthrough bool       // fixed in Init
	server      *fuse.Server
	mu          struct {
		sync.Mutex
		files map[uint64]*openFile // by file handle
		next  uint64               // the next free handle of a file that is not a batch
	}
}

// New prepares a mount of cfg. direct turns passthrough off.
func New(cfg Config, direct bool) (*FS, error) {
	first, last := cfg.Node*cfg.Spec.RanksPerNode, (cfg.Node+1)*cfg.Spec.RanksPerNode
	if cfg.AllRanks {
		first, last = 0, cfg.Spec.Ranks()
	}
	var controls []string
	for _, c := range cfg.Controls {
		controls = append(controls, c.Name)
	}
	tree, err := newTree(cfg.Spec, cfg.Fields, controls, first, last)
	if err != nil {
		return nil, err
	}
	f := &FS{RawFileSystem: fuse.NewDefaultRawFileSystem(), cfg: cfg, tree: tree, noPassing: direct}
	for field := range cfg.Fields {
		full := cfg.Cache.Layout(field, cfg.Spec.BatchSize).Size()
		tail := cfg.Cache.Layout(field, cfg.Spec.Rows(cfg.Spec.Steps()-1)).Size()
		f.sizes = append(f.sizes, [2]int64{full, tail})
	}
	f.mu.files = map[uint64]*openFile{}
	f.mu.next = ownHandles
	return f, nil
}

// Init finds out whether the kernel will read memory files by itself. It is
// called once, before any other request.
func (f *FS) Init(server *fuse.Server) {
	f.server = server
	if f.noPassing || server.KernelSettings().Flags64()&fuse.CAP_PASSTHROUGH == 0 {
		return
	}
	trial, err := memfd.New(1, 1)
	if err != nil {
		return
	}
	defer trial.Close()
	id, errno := server.RegisterBackingFd(&fuse.BackingMap{Fd: int32(trial.Fd())})
	if errno != 0 {
		f.cfg.Log.Info("the kernel does not read batches by itself; they go through the daemon", "err", errno)
		return
	}
	server.UnregisterBackingFd(id)
	f.passthrough = true
}

// Serving is how batches reach their readers, "passthrough" or "direct".
func (f *FS) Serving() string {
	if f.passthrough {
		return "passthrough"
	}
	return "direct"
}

// String names the file system to go-fuse.
func (f *FS) String() string { return "solarfs" }

// StatFs says that nothing can be written.
func (f *FS) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.NameLen = 4096, 255
	return fuse.OK
}
