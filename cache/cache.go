package cache

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/dgraph-io/ristretto/v2"
	"golang.org/x/sync/semaphore"

	"solarfs/batchfile"
	"solarfs/h5backend"
	"solarfs/internal/memfd"
	"solarfs/planner"
)

// maxRequests is how many sample reads may be under way ahead of the readers:
// several times any useful queue depth, so that the storage never idles, and
// few enough that the step that is needed first is not read last.
const maxRequests = 1024

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
	Log      *slog.Logger
}

// Split is how a node's memory is divided, in bytes.
type Split struct {
	Limit  int64 // all that the mount may use; for status only
	Window int64 // batch files made ahead of their readers, and open ones
	Stray  int64 // ristretto and the reads of batches out of order
}

// StepBytes is the memory of one step's batch files on a node: the least that
// a window needs. spec.BatchSize rows for each local rank and field.
func StepBytes(spec planner.Spec, fields []h5backend.Field) int64 {
	var n int64
	for _, f := range fields {
		n += batchfile.Npy(f.DType, f.Shape, f.Bytes, spec.BatchSize).Size()
	}
	return n * int64(spec.RanksPerNode)
}

// Cache is one node's data plane. It reads ahead from New to Close.
type Cache struct {
	cfg           Config
	log           *slog.Logger
	stepsPerEpoch int
	pool          *pool
	buffer        *buffer
	window        *window
	epochs        *epochs
	recent        *ristretto.Cache[uint64, []byte]
	foreground    *semaphore.Weighted // bytes of stray reads under way
	strayBytes    int64
	underWay      *semaphore.Weighted // requests of the read-ahead
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
	buffer, err := newBuffer(cfg.Spec.BufferSamples, cfg.Fields)
	if err != nil {
		return nil, err
	}
	recent, err := newRecent(cfg.Memory.Stray/2, cfg.Fields)
	if err != nil {
		return nil, err
	}
	c := &Cache{
		cfg: cfg, log: cfg.Log, stepsPerEpoch: cfg.Spec.Steps(), buffer: buffer, recent: recent,
		pool: newPool(cfg.Memory.Window), epochs: &epochs{spec: cfg.Spec, node: cfg.Node},
		strayBytes: max(cfg.Memory.Stray/2, 1), stats: newStats(cfg.Spec.Epochs),
		underWay: semaphore.NewWeighted(maxRequests), ended: make(chan struct{}),
	}
	c.foreground = semaphore.NewWeighted(c.strayBytes)
	if cfg.AllRanks {
		c.epochs.node = -1
	}
	c.window = newWindow(int(cfg.Memory.Window/step), cfg.Spec.Epochs*c.stepsPerEpoch, cfg.Spec.RanksPerNode, c.pool)
	ctx, stop := context.WithCancel(context.Background())
	c.stop = stop
	go func() {
		defer close(c.ended)
		if err := c.run(ctx); err != nil {
			c.log.Error("reading ahead has ended", "err", err)
			c.stats.failed(err)
			c.window.end(err)
		}
	}()
	return c, nil
}

func newRecent(bytes int64, fields []h5backend.Field) (*ristretto.Cache[uint64, []byte], error) {
	smallest := fields[0].Bytes
	for _, f := range fields {
		smallest = min(smallest, f.Bytes)
	}
	return ristretto.NewCache(&ristretto.Config[uint64, []byte]{
		NumCounters: max(10*bytes/int64(max(smallest, 1)), 100),
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

// BatchID names one batch file. Rank counts over all nodes.
type BatchID struct {
	Epoch, Step, Rank, Field int
}

// Handle is an open batch file.
type Handle struct {
	c       *Cache
	id      BatchID
	layout  batchfile.Layout
	made    *batchFile // nil: a stray
	samples []uint32   // of a stray, row by row
}

// Open finds a batch file, waiting until it is made. It fails only when ctx
// ends or the plan cannot be followed any more; what cannot be read from
// storage fails in ReadAt.
func (c *Cache) Open(ctx context.Context, id BatchID) (*Handle, error) {
	h := &Handle{c: c, id: id, layout: c.Layout(id.Field, c.cfg.Spec.Rows(id.Step))}
	began := time.Now()
	local := id.Rank - c.cfg.Node*c.cfg.Spec.RanksPerNode
	if local >= 0 && local < c.cfg.Spec.RanksPerNode {
		made, err := c.window.open(ctx, id.Epoch*c.stepsPerEpoch+id.Step, local, id.Field)
		c.stats.stalled(id.Epoch, time.Since(began))
		if err != nil {
			return nil, err
		}
		if made != nil {
			h.made = made
			return h, nil
		}
	}
	ep, err := c.epochs.get(id.Epoch)
	if err != nil {
		return nil, err
	}
	c.stats.strays.Add(1)
	h.samples, _ = ep.Batch(id.Step, id.Rank)
	return h, nil
}

// Lend returns the memory file behind the batch, for the kernel to read by
// itself, or nil for a stray. After it the file is used again only when nobody
// has it open or mapped.
func (h *Handle) Lend() *memfd.File {
	if h.made == nil {
		return nil
	}
	h.c.window.mu.Lock()
	defer h.c.window.mu.Unlock()
	h.made.lent = true
	h.c.stats.served.Add(h.layout.Size())
	return h.made.file
}

// Bytes returns the file's bytes in [off, off+n), clipped to the file, valid
// until Close; nil for a stray.
func (h *Handle) Bytes(off int64, n int) []byte {
	if h.made == nil {
		return nil
	}
	data := h.made.file.Data
	off = min(off, int64(len(data)))
	data = data[off:min(off+int64(n), int64(len(data)))]
	h.c.stats.served.Add(int64(len(data)))
	return data
}

// ReadAt reads a stray's bytes: from the buffer, from memory of recent reads,
// or from storage. The error is storage's.
func (h *Handle) ReadAt(ctx context.Context, dst []byte, off int64) (int, error) {
	began := time.Now()
	n, err := h.readStray(ctx, dst, off)
	h.c.stats.stalled(h.id.Epoch, time.Since(began))
	if err != nil {
		if ctx.Err() == nil {
			h.c.stats.failed(err)
			h.c.log.Error("a read failed", "epoch", h.id.Epoch, "step", h.id.Step, "rank", h.id.Rank, "err", err)
		}
		return 0, err
	}
	h.c.stats.served.Add(int64(n))
	return n, nil
}

// Close gives the batch back.
func (h *Handle) Close() {
	if h.made != nil {
		h.c.window.release(h.made)
	}
}

// Samples is which sample stands in each row of a rank's batches: the plan of
// an epoch.
func (c *Cache) Samples(epoch int) (*planner.Epoch, error) { return c.epochs.get(epoch) }

// Status is what has been done so far and the memory in use.
func (c *Cache) Status() Status {
	var s Status
	c.stats.fill(&s)
	held, made := c.pool.use()
	s.Memory = Memory{Limit: c.cfg.Memory.Limit, Buffer: c.buffer.heldBytes(), Window: c.pool.limit, Batches: held}
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
