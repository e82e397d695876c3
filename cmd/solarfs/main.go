// Command solarfs mounts HDF5 training data as batches in their shuffled order.
package main

import (
	"context"
	"errors"
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
	os.Exit(run(context.Background(), os.Args, os.Stdout, os.Stderr))
}

// untilSignal ends the context when the program is asked to end, so that what
// is mounted is taken down.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	app := &cli.App{
		Name:  "solarfs",
		Usage: "training data as batches in their shuffled order, read ahead and kept by plan",
		Commands: []*cli.Command{
			mountCommand(), umountCommand(), planCommand(), simulateCommand(), inspectCommand(), statusCommand(), benchCommand(), demoCommand(), versionCommand(),
		},
		HideVersion: true,
		// A comma is a character of paths like any other.
		DisableSliceFlagSeparator: true,
		Metadata:                  map[string]any{commandLine: args},
		Writer:                    stdout,
		ErrWriter:                 stderr,
		ExitErrHandler:            func(*cli.Context, error) {},
		OnUsageError:              usageError,
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
	if !errors.Is(err, errSaid) {
		fmt.Fprintf(stderr, "solarfs: %v\n", err)
	}
	return exitCode(err)
}

func usageError(c *cli.Context, err error, _ bool) error {
	if c.Command.Name == c.App.Name {
		return wrongUse("%v; see solarfs --help", err)
	}
	return wrongUse("%v; see solarfs %s --help", err, c.Command.Name)
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:      "version",
		Usage:     "print the version",
		UsageText: "solarfs version\n\nExample: solarfs version",
		Action: func(c *cli.Context) error {
			fmt.Fprintln(c.App.Writer, "solarfs", version)
			return nil
		},
	}
}
