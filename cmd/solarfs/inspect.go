package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/urfave/cli/v2"

	"solarfs/h5backend"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name:      "inspect",
		Usage:     "list what is in HDF5 files, and how it will be read",
		UsageText: "solarfs inspect [--json] FILE...\n\nExample: solarfs inspect train.h5",
		Flags:     []cli.Flag{configFlag(), &cli.BoolFlag{Name: "json", Usage: "print one JSON object", EnvVars: env("json")}},
		Action:    inspectAction,
	}
}

// fileDoc is a file's datasets.
type fileDoc struct {
	File     string              `json:"file"`
	Datasets []h5backend.Dataset `json:"datasets"`
}

func inspectAction(c *cli.Context) error {
	if !c.Args().Present() {
		return wrongUse("solarfs inspect takes the files to look into; see solarfs inspect --help")
	}
	paths, err := h5backend.Resolve(c.Args().Slice())
	if err != nil {
		return err
	}
	var files []fileDoc
	for _, path := range paths {
		datasets, err := h5backend.Describe(path)
		if err != nil {
			return err
		}
		files = append(files, fileDoc{path, append([]h5backend.Dataset{}, datasets...)})
	}
	if c.Bool("json") {
		enc := json.NewEncoder(c.App.Writer)
		enc.SetIndent("", "  ")
		return enc.Encode(map[string]any{"files": files})
	}
	for _, f := range files {
		printFile(c.App.Writer, f)
	}
	return nil
}

func printFile(w io.Writer, f fileDoc) {
	fmt.Fprintln(w, f.File)
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	fmt.Fprintln(t, "  DATASET\tSHAPE\tTYPE\tLAYOUT\tCHUNK\tFILTERS\tREAD BY\tFIELD")
	for _, d := range f.Datasets {
		fmt.Fprintf(t, "  %s\t%v\t%s\t%s\t%v\t%s\t%s\t%s\n", d.Path, d.Shape, d.DType, d.Layout, d.Chunk, strings.Join(d.Filters, "+"), readText(d), fieldText(d))
	}
	t.Flush()
}

// readText is how a dataset is read, and why not directly.
func readText(d h5backend.Dataset) string {
	if d.Field && d.Why != "" {
		return d.Read + " (" + d.Why + ")"
	}
	return d.Read
}

// fieldText is the name of the field that a dataset is without --field, or why
// it is none.
func fieldText(d h5backend.Dataset) string {
	switch {
	case d.Name != "" && d.Field:
		return d.Name
	case d.LeftOut != "":
		return "none: " + d.LeftOut
	}
	return "none: " + d.Why
}
