// Command solarfs mounts HDF5 training data as batches in their shuffled order.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
)

// version is set by the build.
var version = "dev"

func main() {
	// libhdf5 locks files it only reads; many shared file systems refuse that.
	os.Setenv("HDF5_USE_FILE_LOCKING", "FALSE")
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args, os.Stdout, os.Stderr))
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := &cli.App{
		Name:  "solarfs",
		Usage: "training data as batches in their shuffled order, read ahead and kept by plan",
		Commands: []*cli.Command{
			mountCommand(), umountCommand(), planCommand(), inspectCommand(), statusCommand(), demoCommand(), versionCommand(),
		},
		HideVersion:    true,
		Writer:         stdout,
		ErrWriter:      stderr,
		ExitErrHandler: func(*cli.Context, error) {},
		OnUsageError:   usageError,
		CommandNotFound: func(c *cli.Context, name string) {
			fmt.Fprintf(stderr, "solarfs: there is no command %q; see solarfs --help\n", name)
		},
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return wrongUse("there is no command %q; see solarfs --help", c.Args().First())
			}
			return cli.ShowAppHelp(c)
		},
	}
	for _, cmd := range app.Commands {
		cmd.OnUsageError = usageError
		cmd.HideHelpCommand = true
		cmd.Before = fromConfig
	}
	err := app.RunContext(ctx, args)
	if err == nil {
		return exitDone
	}
	fmt.Fprintf(stderr, "solarfs: %v\n", err)
	return exitCode(err)
}

func usageError(c *cli.Context, err error, _ bool) error {
	return wrongUse("%v; see solarfs %s --help", err, c.Command.Name)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "solarfs version",
		Action: func(c *cli.Context) error {
			fmt.Fprintln(c.App.Writer, "solarfs", version)
			return nil
		},
	}
}
