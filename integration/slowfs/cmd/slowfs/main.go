// Command slowfs shows a directory as slow storage, by hand and from scripts.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"

	"solarfs/integration/slowfs"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "slowfs:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	app := &cli.App{
		Name:      "slowfs",
		Usage:     "show the directory SOURCE, read-only, on MOUNTPOINT as storage of a given speed",
		ArgsUsage: "SOURCE MOUNTPOINT",
		Description: "Prints \"ready\" when the mount answers, and what was read as a line of JSON when it has been\n" +
			"taken down: by umount, or by SIGINT or SIGTERM. MOUNTPOINT/" + slowfs.ControlName + " holds that line all the time.",
		Flags: []cli.Flag{
			&cli.DurationFlag{Name: "latency", Value: 2 * time.Millisecond, Usage: "`TIME` that each request takes beside its bytes"},
			&cli.StringFlag{Name: "bandwidth", Value: "400MB", Usage: "`SIZE` that all requests together get per second; 0: no limit"},
			&cli.IntFlag{Name: "at-once", Value: 16, Usage: "`NUMBER` of requests that are served at once"},
		},
		HideHelpCommand: true,
		Writer:          stdout,
		Action:          mount,
	}
	return app.RunContext(ctx, args)
}

// mount is the program's life.
func mount(c *cli.Context) error {
	if c.NArg() != 2 {
		return fmt.Errorf("got %d arguments; give SOURCE and MOUNTPOINT, behind the flags", c.NArg())
	}
	speed, err := speedOf(c)
	if err != nil {
		return err
	}
	// A thread that sleeps for a request keeps its processor, in Go's sense, for some
	// time: with as many as that, none waits for another's.
	runtime.GOMAXPROCS(32)
	m, err := slowfs.New(c.Args().Get(0), c.Args().Get(1), speed)
	if err != nil {
		return err
	}
	fmt.Fprintln(c.App.Writer, "ready")
	gone := make(chan error, 1)
	go func() { m.Wait(); gone <- nil }()
	select {
	case <-c.Done():
		err = m.Unmount()
	case err = <-gone:
	}
	return errors.Join(err, json.NewEncoder(c.App.Writer).Encode(m.Counts()))
}

func speedOf(c *cli.Context) (slowfs.Speed, error) {
	bandwidth, err := humanize.ParseBytes(strings.TrimSuffix(c.String("bandwidth"), "/s"))
	if err != nil || bandwidth > math.MaxInt64 {
		return slowfs.Speed{}, fmt.Errorf("--bandwidth %q is no size per second; write it as 200MB or 1GiB", c.String("bandwidth"))
	}
	return slowfs.Speed{Latency: c.Duration("latency"), Bandwidth: int64(bandwidth), AtOnce: c.Int("at-once")}, nil
}
