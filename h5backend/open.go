package h5backend

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
)

// Open opens the files, as Resolve gives them, and joins the fields along axis 0. A field is named by its dataset's
// path, PATH or PATH=ALIAS; without any, the fields are all readable datasets of the first file whose axis 0 is as long as
// the longest. What the user can mend is an ErrInput.
func Open(files []string, fields []string) (*Set, error) {
	return open(files, fields, func(s preader) preader { return s })
}

// open puts wrap before each file's reads of samples.
func open(files []string, fields []string, wrap func(preader) preader) (set *Set, err error) {
	if len(files) == 0 {
		return nil, inputf("no data: name an HDF5 file")
	}
	s := &Set{}
	defer func() {
		if err != nil {
			s.Close()
		}
	}()
	var chosen []choice
	for i, path := range files {
		if path, err = filepath.Abs(path); err != nil {
			return nil, inputf("%s: %v", path, err)
		}
		src, err := openSource(path)
		if err != nil {
			return nil, err
		}
		src.data = wrap(src.data)
		f := &fileParts{src: src}
		s.files = append(s.files, f)
		if err := inLib(func() error { return f.open(&chosen, &s.left, fields, i) }); err != nil {
			return nil, err
		}
		if err := src.check(); err != nil {
			return nil, inputf("%s: changed while it was opened: try again when it is written", path)
		}
	}
	return s, s.join(chosen)
}

// open finds the file's part of every field; in the first file it chooses the fields, too. It must run inLib.
func (f *fileParts) open(chosen *[]choice, left *[]LeftOut, args []string, index int) error {
	lib, err := openLib(f.src.path)
	if err != nil {
		return err
	}
	f.lib = lib // the caller closes it where this fails
	if index == 0 {
		if *chosen, *left, err = f.choose(lib, args); err != nil {
			return inputIn(f.src.path, err)
		}
	}
	checks := quickChecks
	if index < thoroughFiles {
		checks = thoroughChecks
	}
	for _, c := range *chosen {
		p, err := f.openPart(lib, c.path, checks)
		if err != nil {
			return err
		}
		f.parts = append(f.parts, p)
	}
	if slices.ContainsFunc(f.parts, func(p *part) bool { return p.lib != nil }) {
		return nil
	}
	f.lib = nil
	return lib.Close()
}

func (f *fileParts) choose(lib *libFile, args []string) ([]choice, []LeftOut, error) {
	if len(args) > 0 {
		chosen, err := chooseNamed(args, lib.has)
		return chosen, nil, err
	}
	entries, err := catalogue(f.src, lib)
	if err != nil {
		return nil, nil, err
	}
	return chooseLongest(entries)
}

// inputIn puts the file before an error that does not name it.
func inputIn(file string, err error) error {
	if errors.Is(err, ErrInput) {
		return err
	}
	return inputf("%s: %v", file, err)
}

func (f *fileParts) openPart(lib *libFile, path string, checks int) (*part, error) {
	if !lib.has(path) {
		entries, err := catalogue(f.src, lib)
		if err != nil {
			return nil, inputIn(f.src.path, err)
		}
		return nil, inputf("%s: no dataset %s; %s", f.src.path, path, existing(entries))
	}
	info, p, err := lookUp(f.src, lib, path)
	if err == nil {
		err = f.prepare(lib, p, info, checks)
	}
	if err != nil {
		return nil, inputf("%s: dataset %s: %v", f.src.path, path, err)
	}
	return p, nil
}

// prepare chooses the part's way; libhdf5's dataset stays open only where the part is read by it.
func (f *fileParts) prepare(lib *libFile, p *part, info libInfo, checks int) error {
	l, err := openLibPart(lib.File, "/"+p.path, info)
	if err != nil {
		return err
	}
	if err := p.prepare(l.ds, info, lib.layout, checks); err != nil || p.way != wayLib {
		l.close()
		return err
	}
	p.lib = l
	return nil
}

// join checks that the files fit together and makes the fields.
func (s *Set) join(chosen []choice) error {
	names, err := fieldNames(chosen)
	if err != nil {
		return err
	}
	for i, p := range s.files[0].parts {
		s.fields = append(s.fields, Field{p.path, names[i], native(p.dtype), slices.Clone(p.shape), p.bytes})
	}
	for _, f := range s.files {
		if err := f.fits(s.files[0]); err != nil {
			return err
		}
		s.first = append(s.first, s.total)
		f.rows = f.parts[0].rows
		f.src.decodeRun = max(maxDecode-f.decodedBytes(), 0)
		s.total += f.rows
	}
	s.scratch = s.scratchBytes()
	switch {
	case s.total == 0:
		return inputf("%s: no samples: axis 0 of dataset %s has length 0", s.files[0].src.path, s.fields[0].Path)
	case s.total > MaxSamples:
		return inputf("%d samples: at most %d are possible; give fewer files", s.total, uint64(MaxSamples))
	}
	return nil
}

// fits compares a file's parts with each other and with the first file's.
func (f *fileParts) fits(first *fileParts) error {
	for i, p := range f.parts {
		q := first.parts[i]
		if native(p.dtype) != native(q.dtype) || !slices.Equal(p.shape, q.shape) {
			return inputf("%s: dataset %s has samples %s, in %s they are %s: files that are joined must agree",
				f.src.path, p.path, p.sampleText(), first.src.path, q.sampleText())
		}
		if p.rows != f.parts[0].rows {
			return inputf("%s: dataset %s has %d samples, %s has %d: choose fields of one length with --field",
				f.src.path, p.path, p.rows, f.parts[0].path, f.parts[0].rows)
		}
	}
	return nil
}

func (p *part) sampleText() string { return fmt.Sprintf("%s %v", native(p.dtype), p.shape) }
