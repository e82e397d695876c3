package h5backend

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	if c.alias == "" {
		return c, inputf("field %s: the alias is empty; write --field %s=NAME", c.path, c.path)
	}
	return c, nil
}

// LeftOut is a dataset that the default rule leaves out, and why.
type LeftOut struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// chooseLongest is the default rule: every readable dataset whose axis 0 is the longest.
func chooseLongest(entries []entry) (out []choice, left []LeftOut, err error) {
	longest := -1
	for _, e := range entries {
		if e.part != nil {
			longest = max(longest, e.part.rows)
		}
	}
	for _, e := range entries {
		why := ""
		switch {
		case e.part == nil:
			why = e.reason.Error()
		case e.part.rows != longest:
			why = fmt.Sprintf("%d samples of %d", e.part.rows, longest)
		case e.same != "":
			why = "the same dataset as " + e.same
		default:
			out = append(out, choice{path: e.path})
			continue
		}
		left = append(left, LeftOut{e.path, why})
	}
	if len(out) == 0 {
		return nil, nil, errors.New(refusals(entries))
	}
	return out, left, nil
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
		if err := checkName(c.path, name); err != nil {
			return nil, err
		}
		if other, ok := seen[name]; ok {
			return nil, inputf("fields %s and %s would both be called %s: give one an alias, --field %s=NAME", other, c.path, name, c.path)
		}
		seen[name] = c.path
		names = append(names, name)
	}
	return names, nil
}

// checkName refuses what cannot stand in a batch file's name or in a plan file.
func checkName(path, name string) error {
	if len(name) > 200 || !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r == '/' || unicode.IsControl(r) }) {
		return inputf("field %q: the name %q must be UTF-8 of 1 to 200 bytes without '/' and control characters; give an alias, --field PATH=NAME", path, name)
	}
	return nil
}

func nameOf(c choice) string {
	if c.alias != "" {
		return c.alias
	}
	return path.Base(c.path)
}
