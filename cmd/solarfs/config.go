package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"
)

// Every flag can also stand in the environment, as SOLARFS_<FLAG>.
func env(flag string) []string {
	return []string{"SOLARFS_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))}
}

func configFlag() cli.Flag {
	return &cli.StringFlag{Name: "config", Usage: "read flags from this YAML `FILE`; the command line and the environment win", EnvVars: env("config")}
}

// fromConfig sets the flags that --config names and nobody else has set.
func fromConfig(c *cli.Context) error {
	if flag := misplacedFlag(c); flag != "" {
		return wrongUse("flags stand before arguments: move %s to the front", flag)
	}
	path := c.String("config")
	if path == "" {
		return nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return wrongUse("--config: %w", err)
	}
	var settings map[string]any
	if err := yaml.Unmarshal(text, &settings); err != nil {
		return wrongUse("--config %s: %w", path, err)
	}
	for name, value := range settings {
		if err := setFlag(c, name, value); err != nil {
			return wrongUse("--config %s: %w", path, err)
		}
	}
	return nil
}

func setFlag(c *cli.Context, name string, value any) error {
	known := slices.ContainsFunc(c.Command.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if !known || name == "config" {
		return fmt.Errorf("%q is not a flag of solarfs %s", name, c.Command.Name)
	}
	if c.IsSet(name) {
		return nil
	}
	values, ok := value.([]any)
	if !ok {
		values = []any{value}
	}
	for _, v := range values {
		if err := c.Set(name, fmt.Sprint(v)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// misplacedFlag finds a flag behind the arguments, where it would be taken for
// an argument.
func misplacedFlag(c *cli.Context) string {
	for _, arg := range c.Args().Slice() {
		if len(arg) > 1 && arg[0] == '-' {
			return arg
		}
	}
	return ""
}
