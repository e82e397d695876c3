package cache

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/dgraph-io/ristretto/v2"
	"solarfs/batchfile"
	"solarfs/h5backend"
	"solarfs/planner"
)

// Source reads samples from storage. Every request's Dst is filled or its Err
// set when Read returns.
type Source interface {
	Read(ctx context.Context, reqs []h5backend.Request)
}

// Config is what a node's data plane is made of.
type Config struct {
	Spec     planner.Spec
	Digests  []string // of the plan's epochs in hex; nil: not checked
	Node     int
	AllRanks bool // batches of other nodes' ranks can be opened too, as strays
	Fields   []h5backend.Field
	Ahead    Source // reads ahead
	Now      Source // reads what somebody waits for; never queues behind Ahead
	Memory   Split
	// Gap is how many samples' bytes it pays to read over, at present, to save storage a request; nil: none.
	Gap func() int
	// Resume returns a schedule that begins at an epoch or before it; nil: the plan is made from its start. A nil
	// Resume is one that always does. Schedules are not shared. Called by several goroutines.
	Resume func(epoch int) *planner.Schedule
	Log    *slog.Logger
}

// Split is how a node's memory is divided, in bytes.
type Split struct {
	Limit  int64 // all that the mount may use; for status only
	Window int64 // batch files made ahead of their readers, and open ones
	Stray  int64 // ristretto and the reads of batches out of order
}

// StepBytes is the most memory that one step's batch files take on a node, in
// whole pages: the least that a window needs. spec.MaxRows() rows for each local
// rank and field. A window of more takes riders, too; without, they are left out.
func StepBytes(spec planner.Spec, fields []h5backend.Field) int64 {
	var n int64
	for _, f := range fields {
		n += pages(int(batchfile.Npy(f.DType, f.Shape, f.Bytes, spec.MaxRows()).Size()))
	}
	return n * int64(spec.RanksPerNode)
}

// Cache is one node's data plane. It reads ahead from New to Close.
type Cache struct {
	cfg           Config
	log           *slog.Logger
	stepsPerEpoch int
	largest       []int // by field: bytes of the largest batch file
	pool          *pool
	buffer        *buffer
	window        *window
	epochs        *epochs
	recent        *ristretto.Cache[uint64, []byte]
	strays        *strayMemory
	ahead         int // slots of the buffer for loads whose step is not committed
	stats         *stats
	stop          context.CancelFunc
	ended         chan struct{}
}

// New takes the node's memory and begins to read ahead.
func New(cfg Config) (*Cache, error) {
	step := StepBytes(cfg.Spec, cfg.Fields)
	if cfg.Memory.Window < step {
		return nil, fmt.Errorf("a window of %d bytes holds no step of %d bytes; give at least that", cfg.Memory.Window, step)
	}
	files, ahead := cfg.divideWindow()
	buffer, err := newBuffer(cfg.Spec.BufferSamples, ahead, cfg.Fields)
	if err != nil {
		return nil, err
	}
	strays := newStrayMemory(cfg.Memory.Stray)
	recent, err := newRecent(strays.recent, cfg.Fields)
	if err != nil {
		return nil, err
	}
	c := &Cache{
		cfg: cfg, log: cfg.Log, stepsPerEpoch: cfg.Spec.Steps(), buffer: buffer, recent: recent,
		pool: newPool(files), ahead: ahead, epochs: newEpochs(cfg.Spec, cfg.Node, cfg.Digests, cfg.Resume),
		strays: strays, stats: newStats(cfg.Spec.Epochs), ended: make(chan struct{}),
	}
	if cfg.AllRanks {
		c.epochs.node = -1
	}
	for field := range cfg.Fields {
		c.largest = append(c.largest, int(c.Layout(field, cfg.Spec.MaxRows()).Size()))
	}
	c.window = newWindow(c.span(), cfg.Spec.Epochs*c.stepsPerEpoch, cfg.Spec.RanksPerNode, c.pool)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() {
		defer close(c.ended)
		if err := c.run(ctx); err != nil {
			c.log.Error("reading ahead has ended", "err", err)
			c.stats.failed(err)
			c.window.end(err)
			c.window.restart(0) // who waits for a batch is told
		}
	}()
	return c, nil
}

// gap is how many samples it pays to read over.
func (c *Cache) gap() int {
	if c.cfg.Gap == nil {
		return 0
	}
	return c.cfg.Gap()
}

// span is how many steps the window's memory holds batch files of, at the least.
func (c *Cache) span() int {
	var step int64
	for _, size := range c.largest {
		step += c.pool.cost(size)
	}
	return max(1, int(c.pool.limit/(step*int64(c.cfg.Spec.RanksPerNode))))
}

// recentOverhead is what ristretto and Go need to keep one value, in bytes.
const recentOverhead = 128

func newRecent(bytes int64, fields []h5backend.Field) (*ristretto.Cache[uint64, []byte], error) {
	smallest := fields[0].Bytes
	for _, f := range fields {
		smallest = min(smallest, f.Bytes)
	}
	return ristretto.NewCache(&ristretto.Config[uint64, []byte]{
		NumCounters: max(10*bytes/int64(smallest+recentOverhead), 100),
		MaxCost:     max(bytes, 1),
		BufferItems: 64,
	})
}

// Close ends the read-ahead and gives all memory back. No handle may be in use.
func (c *Cache) Close() error {
	c.window.end(errClosed)
	c.stop()
	<-c.ended
	c.window.restart(0)
	c.pool.close()
	c.recent.Close()
	return c.buffer.close()
}

// Layout is the layout of a field's batch file with rows rows.
func (c *Cache) Layout(field, rows int) batchfile.Layout {
	f := c.cfg.Fields[field]
	return batchfile.Npy(f.DType, f.Shape, f.Bytes, rows)
}

// Samples is which sample stands in each row of a rank's batches: the plan of
// an epoch. One that is not being read costs the planning of all epochs up to it;
// ctx ends that between two of them.
func (c *Cache) Samples(ctx context.Context, epoch int) (*planner.Epoch, error) {
	return c.epochs.get(ctx, epoch)
}

// Status is what has been done so far and the memory in use.
func (c *Cache) Status() Status {
	var s Status
	c.stats.fill(&s)
	held, made := c.pool.use()
	s.Memory = Memory{
		Limit: c.cfg.Memory.Limit, Buffer: c.buffer.heldBytes(), Window: c.cfg.Memory.Window, Batches: held, Ahead: int64(c.ahead) * int64(c.buffer.slotBytes),
	}
	s.FilesMade = made
	c.window.mu.Lock()
	defer c.window.mu.Unlock()
	for i, r := range c.window.mu.ranks {
		s.Ranks = append(s.Ranks, RankStatus{
			Rank: c.cfg.Node*c.cfg.Spec.RanksPerNode + i, Epoch: r.high / c.stepsPerEpoch, Step: r.high % c.stepsPerEpoch,
		})
	}
	return s
}

// ErrStale is in the chain of a read's error when the source has changed.
var ErrStale = h5backend.ErrStale
