package h5backend

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
)

// choice is a field as the user, or the default rule, names it.
type choice struct{ path, alias string }

// chooseNamed reads --field arguments; exists tells whether the file has a dataset at a path.
func chooseNamed(args []string, exists func(path string) bool) ([]choice, error) {
	var out []choice
	for _, arg := range args {
		c, err := parseField(arg, exists)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(out, func(o choice) bool { return o.path == c.path }) {
			return nil, inputf("field %s is named twice", c.path)
		}
		out = append(out, c)
	}
	return out, nil
}

// parseField reads NAME or NAME=ALIAS. A dataset whose name has a '=' is found under its whole name.
func parseField(arg string, exists func(path string) bool) (choice, error) {
	clean := func(s string) string { return strings.TrimPrefix(path.Clean("/"+s), "/") }
	i := strings.LastIndexByte(arg, '=')
	if i < 0 || exists(clean(arg)) {
		return choice{path: clean(arg)}, nil
	}
	c := choice{clean(arg[:i]), arg[i+1:]}
	if c.alias == "" || strings.ContainsAny(c.alias, "/\x00") {
		return c, inputf("field %s: the alias %q must not be empty or contain '/'", c.path, c.alias)
	}
	return c, nil
}

// chooseLongest is the default rule: every readable dataset whose axis 0 is the longest.
func chooseLongest(entries []entry) ([]choice, error) {
	longest := -1
	for _, e := range entries {
		if e.part != nil {
			longest = max(longest, e.part.rows)
		}
	}
	var out []choice
	for _, e := range entries {
		if e.part != nil && e.part.rows == longest && e.same == "" {
			out = append(out, choice{path: e.path})
		}
	}
	if len(out) == 0 {
		return nil, errors.New(refusals(entries))
	}
	return out, nil
}

// refusals says why no dataset can be a field.
func refusals(entries []entry) string {
	if len(entries) == 0 {
		return "no dataset in the file"
	}
	var lines []string
	for _, e := range entries[:min(len(entries), 5)] {
		lines = append(lines, fmt.Sprintf("%s: %v", e.path, e.reason))
	}
	if more := len(entries) - len(lines); more > 0 {
		lines = append(lines, fmt.Sprintf("and %d more", more))
	}
	return "no dataset can be a field: " + strings.Join(lines, "; ")
}

// existing lists datasets for a message.
func existing(entries []entry) string {
	const most = 20
	var names []string
	for _, e := range entries {
		names = append(names, e.path)
	}
	if len(names) == 0 {
		return "it has no datasets"
	}
	more := ""
	if len(names) > most {
		more = fmt.Sprintf(" and %d more", len(names)-most)
		names = names[:most]
	}
	return "it has " + strings.Join(names, ", ") + more
}

// fieldNames gives each choice its name: the alias, else the last part of the path, else, where two share that, the
// whole path with '.' for '/'.
func fieldNames(chosen []choice) ([]string, error) {
	short := map[string]int{}
	for _, c := range chosen {
		short[nameOf(c)]++
	}
	seen := map[string]string{}
	var names []string
	for _, c := range chosen {
		name := nameOf(c)
		if c.alias == "" && short[name] > 1 {
			name = strings.ReplaceAll(c.path, "/", ".")
		}
		if other, ok := seen[name]; ok {
			return nil, inputf("fields %s and %s would both be called %s: give one an alias, --field %s=NAME", other, c.path, name, c.path)
		}
		seen[name] = c.path
		names = append(names, name)
	}
	return names, nil
}

func nameOf(c choice) string {
	if c.alias != "" {
		return c.alias
	}
	return path.Base(c.path)
}
