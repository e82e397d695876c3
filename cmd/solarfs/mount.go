package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/fsnode"
	"solarfs/h5backend"
)

// busyTimeout is how long an ending daemon waits for readers before it leaves
// the mount to be detached.
const busyTimeout = 10 * time.Second

func mountCommand() *cli.Command {
	return &cli.Command{
		Name:  "mount",
		Usage: "mount a job's batches; plans the job first unless --plan names a plan",
		UsageText: "solarfs mount --plan FILE [flags] DIR\n   solarfs mount --data PATH --epochs N --batch-size N [flags] DIR\n\n" +
			"Example: solarfs mount --data train.h5 --epochs 100 --batch-size 64 --daemon /mnt/solar",
		Flags: append(append(jobFlags(), readingFlags()...),
			&cli.StringFlag{Name: "plan", Usage: "mount by this plan `FILE`", EnvVars: env("plan")},
			undefaulted{&cli.IntFlag{Name: "node", Usage: "which node this is, `I`, from 0 on (default: from the launcher's environment)", EnvVars: env("node")}},
			&cli.BoolFlag{Name: "all-ranks", Usage: "list the ranks of all nodes", EnvVars: env("all-ranks")},
			&cli.BoolFlag{Name: "daemon", Usage: "go to the background once the mount answers", EnvVars: env("daemon")},
			&cli.StringFlag{Name: "ready-file", Usage: "write the daemon's process number to `FILE` once the mount answers; removed at the end", EnvVars: env("ready-file")},
			&cli.StringFlag{Name: "log-file", Usage: "append the log, and what a crash prints, to `FILE` (default: standard error; a daemon's log is dropped)", EnvVars: env("log-file")},
			&cli.StringFlag{Name: "http", Usage: "serve metrics for Prometheus at `ADDRESS`, HOST:PORT, under /metrics; without a host at 127.0.0.1; port 0 takes a free one, which status says (default: off)", EnvVars: env("http")},
			&cli.BoolFlag{Name: "allow-other", Usage: "let other users read, too", EnvVars: env("allow-other")},
			&cli.StringSliceFlag{Name: "o", Usage: "mount `OPTIONS`: direct_io (no passthrough), debug (log each request), or the kernel's own"},
		),
		Action: mountAction,
	}
}

func mountAction(c *cli.Context) error {
	dir, err := oneDir(c)
	if err != nil {
		return err
	}
	if c.Bool("daemon") && !isDaemon() {
		return startDaemon(c.Context, dir, c.App.ErrWriter)
	}
	if err := preparePoint(dir, c.App.ErrWriter); err != nil {
		return err
	}
	m := mounting{c: c, dir: dir}
	defer m.close()
	if err := m.prepare(); err != nil {
		return err
	}
	j, err := theJob(c)
	if err != nil {
		return err
	}
	defer j.close()
	if m.node, m.nodeFrom, err = nodeIndex(c, j.plan.Spec); err != nil {
		return err
	}
	m.job = j
	if m.readers, err = newReaders(m.asked, &j.plan, j.set); err != nil {
		return err
	}
	return m.serve()
}

// mounting is one mount command from its flags to its end.
type mounting struct {
	c         *cli.Context
	dir       string
	options   options
	asked     h5backend.ReaderOptions
	readyFile string // absolute; "": none
	log       *slog.Logger
	logFile   *os.File     // nil: none
	listener  net.Listener // for metrics; nil: none
	job       *job
	readers   readers
	node      int
	nodeFrom  string // what said so

	data *cache.Cache
	tree *fsnode.FS
}

// close ends what prepare has begun.
func (m *mounting) close() {
	m.logFile.Close() // does nothing without one
	if m.listener != nil {
		m.listener.Close()
	}
}

func theJob(c *cli.Context) (*job, error) {
	if path := c.String("plan"); path != "" {
		return openJob(c, path)
	}
	return newJob(c)
}

// serve is the mount's life: memory, kernel, readiness, the wait, the end.
func (m *mounting) serve() error {
	ctx, stop := untilSignal(m.c.Context)
	defer stop()
	plan, set, log := &m.job.plan, m.job.set, m.log
	// Samples lie outside Go's heap; what lies in it must not double its share
	// before it is collected.
	debug.SetMemoryLimit(plan.Memory.Stray + plan.Memory.overhead(plan.Spec, set) + runtimeBytes)
	var err error
	m.data, err = cache.New(m.job.dataPlane(m.node, m.c.Bool("all-ranks"), m.readers, log))
	if err != nil {
		return err
	}
	defer m.data.Close()
	metrics := newRegistry(m.status)
	mounted, err := m.mountTree(metrics)
	if err != nil {
		return m.cannotMount(err)
	}
	m.logMounted()
	if m.listener != nil {
		defer serveMetrics(m.listener, metrics, log)()
	}
	undo, err := m.announce()
	if err != nil {
		takeDown(m.dir, busyTimeout)
		return err
	}
	defer undo()
	awaitEnd(ctx, mounted, m.dir, log)
	return nil
}

func (m *mounting) cannotMount(err error) error {
	if given := m.options.kernel; len(given) > 0 {
		return badPoint("%w; perhaps the kernel does not know -o %s", err, strings.Join(given, ","))
	}
	return coded{err, exitPoint}
}

func (m *mounting) logMounted() {
	plan := &m.job.plan
	first := m.node * plan.Spec.RanksPerNode
	ranks := fmt.Sprintf("%d-%d of %d", first, first+plan.Spec.RanksPerNode-1, plan.Ranks)
	m.log.Info("mounted", "dir", m.dir, "node", m.node, "from", m.nodeFrom, "ranks", ranks, "loads", plan.Loads, "bound", plan.LoadsBound,
		"fields", joined(plan.Fields), "left_out", plan.leftOutText())
}

func (m *mounting) mountTree(metrics prometheus.Gatherer) (mounted *fsnode.Mounted, err error) {
	plan := &m.job.plan
	planText := plan.json()
	cfg := fsnode.Config{
		Spec: plan.Spec, Node: m.node, AllRanks: m.c.Bool("all-ranks"), Cache: m.data, Log: m.log,
		Made: time.Unix(0, plan.Files[0].ModTime),
		Controls: []fsnode.Control{
			{Name: "metrics", Content: func() []byte { return metricsText(metrics) }},
			{Name: "plan.json", Content: func() []byte { return planText }},
			{Name: "status.json", Content: func() []byte {
				text, _ := json.MarshalIndent(m.status(), "", "  ")
				return append(text, '\n')
			}},
		},
	}
	for _, f := range plan.Fields {
		cfg.Fields = append(cfg.Fields, f.Name)
	}
	if m.tree, err = fsnode.New(cfg, m.options.direct); err != nil {
		return nil, err
	}
	return m.tree.Mount(m.dir, fsnode.MountOptions{
		AllowOther: m.c.Bool("allow-other"), Options: m.options.kernel, Debug: m.options.debug, Source: "solarfs",
	})
}

// awaitEnd serves until the mount is taken down, by a signal or from outside.
func awaitEnd(ctx context.Context, mounted *fsnode.Mounted, dir string, log *slog.Logger) {
	gone := make(chan struct{})
	go func() {
		mounted.Wait()
		close(gone)
	}()
	select {
	case <-gone:
	case <-ctx.Done():
		detached, err := takeDown(dir, busyTimeout)
		if err != nil || detached {
			log.Warn("the mount was in use at the end and is detached", "dir", dir, "err", err)
			return // its readers get an error when this process ends
		}
		<-gone
	}
	log.Info("unmounted", "dir", dir)
}

// announce tells whoever waits that the mount answers.
func (m *mounting) announce() (undo func(), err error) {
	if m.readyFile != "" {
		if err := writeFile(m.readyFile, fmt.Appendln(nil, os.Getpid())); err != nil {
			return nil, fmt.Errorf("write the ready file: %w", err)
		}
	}
	if isDaemon() {
		if err := reportReady(m.logFile); err != nil {
			return nil, err
		}
	}
	return func() {
		if m.readyFile != "" {
			os.Remove(m.readyFile)
		}
	}, nil
}
