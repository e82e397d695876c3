package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/debug"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"solarfs/cache"
	"solarfs/fsnode"
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
		Flags: append(jobFlags(),
			&cli.StringFlag{Name: "plan", Usage: "mount by this plan `FILE`", EnvVars: env("plan")},
			&cli.IntFlag{Name: "node", Usage: "which node this is, `I` (default: from the launcher's environment)", EnvVars: env("node")},
			&cli.BoolFlag{Name: "all-ranks", Usage: "list the ranks of all nodes", EnvVars: env("all-ranks")},
			&cli.BoolFlag{Name: "daemon", Usage: "go to the background once the mount answers", EnvVars: env("daemon")},
			&cli.StringFlag{Name: "ready-file", Usage: "write the daemon's process number to `FILE` once the mount answers; removed at the end", EnvVars: env("ready-file")},
			&cli.StringFlag{Name: "log-file", Usage: "append the log to `FILE` (default: standard error; a daemon's log is dropped)", EnvVars: env("log-file")},
			&cli.BoolFlag{Name: "allow-other", Usage: "let other users read, too", EnvVars: env("allow-other")},
			&cli.StringSliceFlag{Name: "o", Usage: "mount `OPTIONS`: direct_io (no passthrough), debug, or the kernel's own"},
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
	log, closeLog, err := openLog(c.String("log-file"), c.App.ErrWriter)
	if err != nil {
		return err
	}
	defer closeLog()
	j, err := theJob(c)
	if err != nil {
		return err
	}
	defer j.set.Close()
	node, err := nodeIndex(c, j.plan.Spec.Nodes, j.plan.Spec.RanksPerNode)
	if err != nil {
		return err
	}
	return serve(c, j, node, dir, log)
}

func theJob(c *cli.Context) (*job, error) {
	if path := c.String("plan"); path != "" {
		return openJob(c, path)
	}
	return newJob(c)
}

// serve is the mount's life: memory, kernel, readiness, the wait, the end.
func serve(c *cli.Context, j *job, node int, dir string, log *slog.Logger) error {
	ctx, stop := untilSignal(c.Context)
	defer stop()
	// Samples lie outside Go's heap; what lies in it must not double its share
	// before it is collected.
	debug.SetMemoryLimit(j.plan.Memory.Stray + overhead(j.plan.Spec, j.set) + runtimeBytes)
	readyFile, err := freshReadyFile(c.String("ready-file"))
	if err != nil {
		return err
	}
	data, err := cache.New(cache.Config{
		Spec: j.plan.Spec, Digests: j.plan.Digests, Node: node, AllRanks: c.Bool("all-ranks"), Fields: j.set.Fields(),
		Ahead: j.set.NewReader(aheadDepth), Now: j.set.NewReader(nowDepth), Log: log,
		Memory: cache.Split{Limit: j.plan.Memory.Limit, Window: j.plan.Memory.Window, Stray: j.plan.Memory.Stray},
	})
	if err != nil {
		return err
	}
	defer data.Close()
	mounted, err := mountTree(c, j, node, dir, data, log)
	if err != nil {
		return coded{err, exitPoint}
	}
	log.Info("mounted", "dir", dir, "node", node, "ranks", j.plan.Ranks, "loads", j.plan.Loads, "bound", j.plan.LoadsBound)
	undo, err := announce(readyFile)
	if err != nil {
		takeDown(dir, busyTimeout)
		return err
	}
	defer undo()
	awaitEnd(ctx, mounted, dir, log)
	return nil
}

func mountTree(c *cli.Context, j *job, node int, dir string, data *cache.Cache, log *slog.Logger) (*fsnode.Mounted, error) {
	planText := j.plan.json()
	options := mountOptions(c)
	cfg := fsnode.Config{
		Spec: j.plan.Spec, Node: node, AllRanks: c.Bool("all-ranks"), Cache: data, Log: log,
		Made: time.Unix(0, j.plan.Files[0].ModTime),
		Controls: []fsnode.Control{
			{Name: "plan.json", Content: func(string) []byte { return planText }},
			{Name: "status.json", Content: func(serving string) []byte {
				text, _ := json.MarshalIndent(newStatusDoc(node, serving, data, j.set), "", "  ")
				return append(text, '\n')
			}},
		},
	}
	for _, f := range j.plan.Fields {
		cfg.Fields = append(cfg.Fields, f.Name)
	}
	tree, err := fsnode.New(cfg, options.direct)
	if err != nil {
		return nil, err
	}
	return tree.Mount(dir, fsnode.MountOptions{
		AllowOther: c.Bool("allow-other"), Options: options.kernel, Debug: options.debug, Source: "solarfs",
	})
}

// options are what stands behind -o: ours, and what goes on to the kernel.
type options struct {
	direct, debug bool
	kernel        []string
}

func mountOptions(c *cli.Context) options {
	var o options
	for _, list := range c.StringSlice("o") {
		for _, name := range strings.Split(list, ",") {
			switch name {
			case "direct_io":
				o.direct = true
			case "debug":
				o.debug = true
			case "", "ro", "rw", "nosuid", "nodev": // what every mount of ours is, or cannot be
			default:
				o.kernel = append(o.kernel, name)
			}
		}
	}
	return o
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

// freshReadyFile is the ready file's path for a daemon, which works in /. A
// killed daemon's file would tell a lie and is removed.
func freshReadyFile(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	path, err := absolute(path)
	if err == nil {
		os.Remove(path)
	}
	return path, err
}

// announce tells whoever waits that the mount answers.
func announce(readyFile string) (undo func(), err error) {
	if readyFile != "" {
		if err := writeFile(readyFile, fmt.Appendln(nil, os.Getpid())); err != nil {
			return nil, fmt.Errorf("write the ready file: %w", err)
		}
	}
	if isDaemon() {
		if err := reportReady(); err != nil {
			return nil, err
		}
	}
	return func() {
		if readyFile != "" {
			os.Remove(readyFile)
		}
	}, nil
}

// openLog opens the log; a daemon's standard error goes there, too.
func openLog(path string, stderr io.Writer) (*slog.Logger, func(), error) {
	if path == "" {
		return slog.New(slog.NewTextHandler(stderr, nil)), func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return nil, nil, wrongUse("--log-file: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, nil)), func() { f.Close() }, nil
}
