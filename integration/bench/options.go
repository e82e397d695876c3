package main

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/urfave/cli/v2"
)

// Names of storages and systems, as flags say them.
const (
	slow, warm, disk               = "slow", "warm", "disk"
	loader, rclone, raw, ourSystem = "loader", "rclone", "raw", "solarfs"
)

// options are what is measured, and how long.
type options struct {
	suite    string
	cells    []cell
	systems  []string
	rcloneOn []string // storages on which rclone is measured
	asked    bool     // for the systems by a flag
	shares   []float64
	workers  []int   // of DataLoaders
	seconds  float64 // for which a system is measured that takes longer for an epoch
	epochs   int     // that are measured of a system that takes less
	cache    string  // directory of the data
}

// cell is a data set on a storage.
type cell struct {
	storage string
	data    dataset
}

// suite is what is measured unless flags say otherwise.
type suite struct {
	data    map[string][]string // by storage
	rclone  []string            // storages
	shares  []float64
	seconds float64
	epochs  int
}

var suites = map[string]suite{
	"full": {
		data:   map[string][]string{slow: {"c64", "c1m", "g1", "g16"}, warm: {"c64", "c1m", "g1", "g16"}, disk: {"big"}},
		rclone: []string{slow, warm}, shares: []float64{.2, .5, .85, 1}, seconds: 5, epochs: 3,
	},
	"quick": {
		data:   map[string][]string{slow: {"c64", "g1"}, warm: {"c64"}, disk: {"c64"}},
		rclone: []string{slow}, shares: []float64{.5, 1}, seconds: 3, epochs: 2,
	},
}

func optionsFrom(c *cli.Context) (options, error) {
	s, known := suites[c.String("suite")]
	if !known {
		return options{}, fmt.Errorf("there is no suite %q; give full or quick", c.String("suite"))
	}
	cache, err := filepath.Abs(c.String("cache"))
	if err != nil {
		return options{}, fmt.Errorf("find --cache %s: %w", c.String("cache"), err)
	}
	o := options{suite: c.String("suite"), shares: s.shares, workers: c.IntSlice("workers"), seconds: s.seconds, epochs: s.epochs, cache: cache}
	if c.IsSet("share") {
		o.shares = c.Float64Slice("share")
	}
	for _, share := range o.shares {
		if !(share > 0 && share <= 1) {
			return o, fmt.Errorf("--share %v is no share of a set; give a number above 0, and at most 1", share)
		}
	}
	if c.IsSet("seconds") {
		o.seconds = c.Float64("seconds")
	}
	if o.systems, err = chosen("system", c.StringSlice("system"), []string{loader, rclone, raw, ourSystem}); err != nil {
		return o, err
	}
	o.rcloneOn, o.asked = s.rclone, c.IsSet("system")
	o.cells, err = cellsFrom(c, s)
	return o, err
}

// cellsFrom is storages times data sets.
func cellsFrom(c *cli.Context, s suite) (cells []cell, err error) {
	storages, err := chosen("storage", c.StringSlice("storage"), []string{slow, warm, disk})
	if err != nil {
		return nil, err
	}
	if _, err := chosen("data", c.StringSlice("data"), datasetNames()); err != nil {
		return nil, err
	}
	for _, storage := range storages {
		names := s.data[storage]
		if c.IsSet("data") {
			names = c.StringSlice("data")
		}
		for _, name := range names {
			data := datasets[slices.IndexFunc(datasets, func(d dataset) bool { return d.Name == name })]
			if c.IsSet("samples") {
				data.Samples = c.Int("samples")
			}
			if data.Samples < 4*data.Batch {
				return nil, fmt.Errorf("--samples %d is too little to measure; give %d or more", data.Samples, 4*data.Batch)
			}
			cells = append(cells, cell{storage, data})
		}
	}
	return cells, nil
}

// chosen is what a flag names of what there is; all where it names none.
func chosen(flag string, names, all []string) ([]string, error) {
	for _, name := range names {
		if !slices.Contains(all, name) {
			return nil, fmt.Errorf("--%s %q is none of %q", flag, name, all)
		}
	}
	if len(names) == 0 {
		return all, nil
	}
	return names, nil
}

func (o options) wants(system string) bool { return slices.Contains(o.systems, system) }

// wantsRclone leaves rclone out, unless it is asked for, where other places show the same: filling its cache takes a minute and more.
func (o options) wantsRclone(p place) bool {
	usual := slices.Contains(o.rcloneOn, p.storage) && p.data.Name == datasets[0].Name
	return o.wants(rclone) && (p.share == 0 || p.share == 1) && (o.asked || usual)
}
