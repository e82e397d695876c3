package integration

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

const module = "solarfs/"

// mayImport says which parts of the project a part may import: names of
// packages, or "internal" for any below internal/. A new part must be added here.
var mayImport = map[string][]string{
	"cmd":         {"fsnode", "cache", "planner", "balance", "h5backend", "batchfile", "storage", "examples", "internal"},
	"fsnode":      {"cache", "planner", "batchfile", "internal"},
	"cache":       {"planner", "h5backend", "batchfile", "internal"},
	"planner":     {"balance"},
	"balance":     {"balance"},
	"h5backend":   {"storage", "internal"},
	"batchfile":   {},
	"storage":     {},
	"examples":    {},
	"internal":    {"internal"},
	"integration": {"integration", "cmd", "fsnode", "cache", "planner", "balance", "h5backend", "batchfile", "storage", "examples", "internal"},
}

// forTests is the part that no other may import, not even for its tests: what is
// below it must never reach the program.
const forTests = "integration"

// onlyFor names the packages that may import a library, with what is below them.
var onlyFor = map[string][]string{
	"github.com/hanwen/go-fuse":    {"fsnode", "integration/slowfs"},
	"gonum.org/v1/hdf5":            {"h5backend"},
	"github.com/go-analyze/charts": {"internal"},
	"C":                            {"h5backend"},
}

// pure parts compute values from values: nothing of the standard library that
// reaches outside or runs at once, and no library.
var (
	pure   = []string{"planner", "balance", "storage"}
	impure = []string{"os", "net", "time", "sync", "math/rand"}
)

// goPackage is what "go list" tells of one package. Its tests may import what
// they like, but for the part for tests.
type goPackage struct {
	ImportPath   string
	Imports      []string
	TestImports  []string
	XTestImports []string
	CgoFiles     []string
}

// part is the first element of the path below the module: "internal" for solarfs/internal/memfd.
func part(importPath string) string {
	first, _, _ := strings.Cut(strings.TrimPrefix(importPath, module), "/")
	return first
}

// under tells whether a package is root or below it.
func under(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}

// owns tells whether a package is one of a library's owners or below one.
func owns(importPath, library string) bool {
	return slices.ContainsFunc(onlyFor[library], func(owner string) bool { return under(importPath, module+owner) })
}

func inStandardLibrary(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// brokenRules lists what a package imports and must not.
func brokenRules(p goPackage) []string {
	self := part(p.ImportPath)
	allowed, known := mayImport[self]
	if !known {
		return []string{fmt.Sprintf("%s: not in the table of parts", p.ImportPath)}
	}
	var broken []string
	for _, imported := range p.Imports {
		if strings.HasPrefix(imported, module) {
			if to := part(imported); !slices.Contains(allowed, to) {
				broken = append(broken, fmt.Sprintf("%s imports %s: %s may import %v", p.ImportPath, imported, self, allowed))
			}
			continue
		}
		for library, owners := range onlyFor {
			if under(imported, library) && !owns(p.ImportPath, library) {
				broken = append(broken, fmt.Sprintf("%s imports %s: only %v may", p.ImportPath, imported, owners))
			}
		}
		if slices.Contains(pure, self) {
			isImpure := slices.ContainsFunc(impure, func(root string) bool { return under(imported, root) })
			if isImpure || !inStandardLibrary(imported) {
				broken = append(broken, fmt.Sprintf("%s imports %s: %s is pure", p.ImportPath, imported, self))
			}
		}
	}
	for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
		if under(imported, module+forTests) && self != forTests {
			broken = append(broken, fmt.Sprintf("a test of %s imports %s: only tests below %s may", p.ImportPath, imported, forTests))
		}
	}
	if len(p.CgoFiles) > 0 && !owns(p.ImportPath, "C") {
		broken = append(broken, fmt.Sprintf("%s has cgo files %v: only %v may", p.ImportPath, p.CgoFiles, onlyFor["C"]))
	}
	return broken
}

func listPackages(t *testing.T) []goPackage {
	t.Helper()
	var stderr bytes.Buffer
	list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports,CgoFiles", "./...")
	list.Dir, list.Stderr = "..", &stderr
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, &stderr)
	}
	var packages []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := decoder.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatalf("output of go list: %v", err)
		}
		packages = append(packages, p)
	}
}

// Imports run down only: cmd -> {storage, fsnode -> cache -> {planner -> balance, h5backend, batchfile}}.
func TestImportDirection(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range listPackages(t) {
		seen[part(p.ImportPath)] = true
		for _, rule := range brokenRules(p) {
			t.Error(rule)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(mayImport)) {
		if !seen[name] {
			t.Errorf("%s is in the table of parts and not in the project", name)
		}
	}
}

// A check of imports that finds nothing must be able to find something.
func TestImportRulesCanBreak(t *testing.T) {
	tests := []struct {
		name   string
		pkg    goPackage
		broken int
	}{
		{"down", goPackage{ImportPath: "solarfs/cache", Imports: []string{"solarfs/planner", "solarfs/internal/memfd", "sync"}}, 0},
		{"up", goPackage{ImportPath: "solarfs/cache", Imports: []string{"solarfs/fsnode"}}, 1},
		{"leaf to leaf", goPackage{ImportPath: "solarfs/batchfile", Imports: []string{"solarfs/planner"}}, 1},
		{"internal upwards", goPackage{ImportPath: "solarfs/internal/memfd", Imports: []string{"solarfs/cache"}}, 1},
		{"unknown part", goPackage{ImportPath: "solarfs/util"}, 1},
		{"go-fuse in fsnode", goPackage{ImportPath: "solarfs/fsnode", Imports: []string{"github.com/hanwen/go-fuse/v2/fs"}}, 0},
		{"go-fuse in cmd", goPackage{ImportPath: "solarfs/cmd/solarfs", Imports: []string{"github.com/hanwen/go-fuse/v2/fs"}}, 1},
		{"go-fuse in the slow store", goPackage{ImportPath: "solarfs/integration/slowfs", Imports: []string{"github.com/hanwen/go-fuse/v2/fs"}}, 0},
		{"go-fuse in integration", goPackage{ImportPath: "solarfs/integration", Imports: []string{"github.com/hanwen/go-fuse/v2/fs"}}, 1},
		{"go-fuse beside the slow store", goPackage{ImportPath: "solarfs/integration/slowfs2", Imports: []string{"github.com/hanwen/go-fuse/v2/fs"}}, 1},
		{"the slow store in its command", goPackage{ImportPath: "solarfs/integration/slowfs/cmd/slowfs", Imports: []string{"solarfs/integration/slowfs"}}, 0},
		{"the slow store in cmd", goPackage{ImportPath: "solarfs/cmd/solarfs", Imports: []string{"solarfs/integration/slowfs"}}, 1},
		{"the slow store in internal", goPackage{ImportPath: "solarfs/internal/memfd", Imports: []string{"solarfs/integration/slowfs"}}, 1},
		{"the slow store in a test of cmd", goPackage{ImportPath: "solarfs/cmd/solarfs", TestImports: []string{"solarfs/integration/slowfs"}}, 1},
		{"the slow store in a test beside cache", goPackage{ImportPath: "solarfs/cache", XTestImports: []string{"solarfs/integration/slowfs"}}, 1},
		{"the slow store in a test of integration", goPackage{ImportPath: "solarfs/integration", TestImports: []string{"solarfs/integration/slowfs"}}, 0},
		{"hdf5 in cache", goPackage{ImportPath: "solarfs/cache", Imports: []string{"gonum.org/v1/hdf5"}}, 1},
		{"charts in internal", goPackage{ImportPath: "solarfs/internal/report", Imports: []string{"github.com/go-analyze/charts"}}, 0},
		{"charts in cmd", goPackage{ImportPath: "solarfs/cmd/solarfs", Imports: []string{"github.com/go-analyze/charts"}}, 1},
		{"cgo in cache", goPackage{ImportPath: "solarfs/cache", Imports: []string{"C"}, CgoFiles: []string{"a.go"}}, 2},
		{"pure planner", goPackage{ImportPath: "solarfs/planner", Imports: []string{"solarfs/balance", "math/bits", "crypto/sha256"}}, 0},
		{"clock in planner", goPackage{ImportPath: "solarfs/planner", Imports: []string{"time"}}, 1},
		{"random in balance", goPackage{ImportPath: "solarfs/balance", Imports: []string{"math/rand/v2", "sync/atomic"}}, 2},
		{"library in planner", goPackage{ImportPath: "solarfs/planner", Imports: []string{"golang.org/x/sync/errgroup"}}, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := brokenRules(test.pkg); len(got) != test.broken {
				t.Errorf("%d rules broken, want %d: %q", len(got), test.broken, got)
			}
		})
	}
}
