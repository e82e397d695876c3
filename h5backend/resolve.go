package h5backend

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/maruel/natural"
)

// Resolve turns files, directories and globs into absolute paths of files in natural sort
// order (part2 before part10), each once. A directory stands for the .h5 and .hdf5 files
// directly in it. An argument for which nothing is found is an ErrInput.
func Resolve(data []string) ([]string, error) {
	var files []string
	for _, arg := range data {
		found, err := resolveOne(arg)
		if err != nil {
			return nil, err
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, inputf("no data: name an HDF5 file, directory or glob with --data")
	}
	slices.SortFunc(files, natural.Compare)
	return dropSame(files)
}

func resolveOne(arg string) ([]string, error) {
	path, err := filepath.Abs(arg)
	if err != nil {
		return nil, inputf("%s: %v", arg, err)
	}
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return filesIn(path)
	case err == nil && !info.Mode().IsRegular():
		return nil, inputf("%s: not a file or directory", arg)
	case err == nil:
		return []string{path}, nil
	case os.IsNotExist(err) && strings.ContainsAny(arg, "*?["):
		return globbed(arg, path)
	}
	return nil, inputf("%s: %v", arg, cause(err))
}

func filesIn(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, inputf("%s: %v", dir, cause(err))
	}
	var files []string
	for _, e := range entries {
		path := filepath.Join(dir, e.Name())
		ext := strings.ToLower(filepath.Ext(path))
		if ext != ".h5" && ext != ".hdf5" {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		return nil, inputf("%s: no .h5 or .hdf5 file in this directory; name other files by a glob", dir)
	}
	return files, nil
}

func globbed(arg, pattern string) ([]string, error) {
	matches, err := filepath.Glob(pattern)
	if err != nil {
		return nil, inputf("%s: %v", arg, err)
	}
	matches = slices.DeleteFunc(matches, func(p string) bool {
		info, err := os.Stat(p)
		return err != nil || !info.Mode().IsRegular()
	})
	if len(matches) == 0 {
		return nil, inputf("%s: no file matches", arg)
	}
	return matches, nil
}

// dropSame keeps the first of several paths to one file, links included.
func dropSame(files []string) ([]string, error) {
	type identity struct{ dev, ino uint64 }
	seen := map[identity]bool{}
	var out []string
	for _, path := range files {
		id, err := statPath(path)
		if err != nil {
			return nil, inputf("%s: %v", path, cause(err))
		}
		if key := (identity{id.dev, id.ino}); !seen[key] {
			seen[key] = true
			out = append(out, path)
		}
	}
	return out, nil
}

// cause is an error of the system without the call and path that Go puts before it.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	return err
}
