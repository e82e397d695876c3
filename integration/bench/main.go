package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	err := run(ctx, os.Args, os.Stdout)
	if errors.Is(err, context.Canceled) {
		err = errors.New("ended by a signal; what had been measured by then is above")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stdout io.Writer) error {
	app := &cli.App{
		Name:            "bench",
		Usage:           "measure solarfs beside DataLoader, rclone and plain reads",
		Description:     "Prints a table of ratios. Run it in the project's directory; it builds what it runs. What it mounts, starts and makes is gone when it ends, but for the data.",
		Flags:           flags(),
		HideHelpCommand: true,
		Writer:          stdout,
		Action:          action,
	}
	return app.RunContext(ctx, args)
}

func flags() []cli.Flag {
	cache, err := os.UserCacheDir()
	if err != nil {
		cache = os.TempDir()
	}
	return []cli.Flag{
		&cli.StringFlag{Name: "suite", Value: "full", Usage: "`NAME` of what is measured unless flags say otherwise: full (about 25 minutes) or quick (3)"},
		&cli.StringSliceFlag{Name: "storage", Usage: "storages by `NAME`, of slow, warm, disk (default: the suite's)"},
		&cli.StringSliceFlag{Name: "data", Usage: "data sets by `NAME`, of c64, c1m, g1, g16, big (default: the suite's for each storage)"},
		&cli.StringSliceFlag{Name: "system", Usage: "systems by `NAME`, of loader, rclone, raw, solarfs (default: all)"},
		&cli.Float64SliceFlag{Name: "share", Usage: "buffers for `SHARE` of the set, above 0 to 1 (default: the suite's)"},
		&cli.IntSliceFlag{Name: "workers", Value: cli.NewIntSlice(0, 2, 4), Usage: "DataLoaders of `N` workers, repeatable; ratios need 0 among them"},
		&cli.IntFlag{Name: "samples", Usage: "`N` samples in each data set (default: the data set's own number)"},
		&cli.Float64Flag{Name: "seconds", Usage: "`SECONDS` after which a slow system's epoch is cut (default: the suite's)"},
		&cli.StringFlag{Name: "cache", Value: filepath.Join(cache, "solarfs-bench"), Usage: "`DIR` for data that are made once; on the machine's disk for storage disk"},
		&cli.StringFlag{Name: "json", Usage: "write the result to `FILE`"},
		&cli.StringFlag{Name: "svg", Usage: "draw the ratios into `FILE`"},
		&cli.StringFlag{Name: "from", Usage: "measure nothing and take the result that --json wrote to `FILE`"},
		&cli.BoolFlag{Name: "markdown", Usage: "print the table as Markdown"},
	}
}

func action(c *cli.Context) error {
	if c.Args().Present() {
		return fmt.Errorf("got the argument %q; everything is said by flags, see --help", c.Args().First())
	}
	result, err := resultOf(c)
	if len(result.Rows) == 0 && err != nil {
		return err
	}
	// What was measured before an end by a signal or an error is worth printing.
	return errors.Join(err, publish(c, result))
}

func resultOf(c *cli.Context) (Result, error) {
	if path := c.String("from"); path != "" {
		return readResult(path)
	}
	o, err := optionsFrom(c)
	if err != nil {
		return Result{}, err
	}
	r := Result{Machine: thisMachine(), Date: time.Now().UTC().Format(time.RFC3339), Suite: o.suite}
	r.Rows, r.Skipped, err = measure(c.Context, o)
	relate(r.Rows)
	return r, err
}

func publish(c *cli.Context, r Result) error {
	print := printTable
	if c.Bool("markdown") {
		print = printMarkdown
	}
	print(c.App.Writer, r)
	var errs []error
	if path := c.String("json"); path != "" {
		errs = append(errs, writeJSON(path, r))
	}
	if path := c.String("svg"); path != "" {
		errs = append(errs, draw(path, r))
	}
	return errors.Join(errs...)
}
