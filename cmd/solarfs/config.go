package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"
)

// Every flag but -o, which means one thing to plan and another to mount, can
// also stand in the environment, as SOLARFS_<FLAG>, and in a YAML file.
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

// setFlag sets a flag of this command. Flags of other commands are passed over,
// so that one file serves plan, mount and status.
func setFlag(c *cli.Context, name string, value any) error {
	if name == "config" || name == "o" || !slices.ContainsFunc(c.App.Commands, func(cmd *cli.Command) bool { return hasFlag(cmd, name) }) {
		return fmt.Errorf("%q is no flag that can stand in a file; see solarfs %s --help", name, c.Command.Name)
	}
	if c.IsSet(name) || !hasFlag(c.Command, name) {
		return nil
	}
	c.App.Metadata[name] = name + " in " + c.String("config")
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

func hasFlag(cmd *cli.Command, name string) bool {
	return slices.ContainsFunc(cmd.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
}

// commandLine is the key of the program's arguments in App.Metadata; the flags
// that were set from a file stand there, too, each with where it is from.
const commandLine = "command line"

// source says, for a message, where a flag that is set got its value.
func source(c *cli.Context, flag string) string {
	if from, ok := c.App.Metadata[flag].(string); ok {
		return from
	}
	for _, arg := range c.App.Metadata[commandLine].([]string) {
		if name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "="); name == flag && strings.HasPrefix(arg, "-") {
			return "--" + flag
		}
	}
	return env(flag)[0]
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
