package h5backend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What cannot be a field is refused with a line that says what and how to mend it.
func TestRefusals(t *testing.T) {
	cases := []struct {
		name, make string
		fields     []string
		texts      []string
	}{
		{"missing", "f['a/x']=np.zeros((3,2)); f['b']=np.zeros(3)", []string{"a/y"}, []string{"no dataset a/y", "a/x, b"}},
		{"group", "f['a/x']=np.zeros((3,2))", []string{"a"}, []string{"no dataset a;"}},
		{"nothing", "pass", nil, []string{"no dataset"}},
		{"scalar", "f['s']=3.0", []string{"s"}, []string{"dataset s", "scalar"}},
		{"null", "f['s']=h5py.Empty('f4')", []string{"s"}, []string{"scalar or empty"}},
		{"only scalars", "f['s']=3.0; f['t']='a'", nil, []string{"no dataset can be a field", "s: scalar"}},
		{"empty", "f['x']=np.zeros((0,3))", nil, []string{"no samples", "dataset x"}},
		{"no bytes", "f['x']=np.zeros((4,0,3))", []string{"x"}, []string{"no bytes"}},
		{"ragged", "d=f.create_dataset('r',(3,),h5py.vlen_dtype('i4'))", []string{"r"}, []string{"variable length"}},
		{"string", "f['s']=np.array([b'ab',b'c'])", []string{"s"}, []string{"string"}},
		{"variable string", "f['s']=['ab','c']", []string{"s"}, []string{"variable length"}},
		{"compound", "f['c']=np.zeros(3,[('a','i4'),('b','f4')])", []string{"c"}, []string{"compound"}},
		{"complex", "f['c']=np.zeros(3,'c8')", []string{"c"}, []string{"compound"}},
		{"bool", "f['b']=np.zeros(3,bool)", []string{"b"}, []string{"enum"}},
		{"reference", "f.create_dataset('r',(2,),h5py.ref_dtype)", []string{"r"}, []string{"reference"}},
		{"opaque", "f['v']=np.zeros(3,'V5')", []string{"v"}, []string{"opaque"}},
		{"long double", "f['x']=np.zeros(3,'g')", []string{"x"}, []string{"float of 16 bytes"}},
		{"odd bits", "t=h5py.h5t.STD_I16LE.copy(); t.set_precision(12)\nh5py.h5d.create(f.id,b'x',t,h5py.h5s.create_simple((4,)))", []string{"x"}, []string{"12-bit"}},
		{"bfloat16", "t=h5py.h5t.IEEE_F32LE.copy(); t.set_fields(15,7,8,0,7); t.set_size(2); t.set_ebias(127)\nh5py.h5d.create(f.id,b'x',t,h5py.h5s.create_simple((4,)))", []string{"x"}, []string{"float of 2 bytes"}},
		{"too many", "f.create_dataset('x',(4294967296,),'i1',chunks=(65536,))", []string{"x"}, []string{"4294967296 samples"}},
		{"lengths", "f['x']=np.zeros(4); f['y']=np.zeros(5)", []string{"x", "y"}, []string{"x has 4", "y has 5"}},
		{"twice", "f['x']=np.zeros(4)", []string{"x", "/x"}, []string{"named twice"}},
		{"same alias", "f['x']=np.zeros(4); f['y']=np.zeros(4)", []string{"x=a", "y=a"}, []string{"both be called a"}},
		{"no alias", "f['x']=np.zeros(4)", []string{"x="}, []string{"field x", "alias"}},
		{"alias", "f['x']=np.zeros(4)", []string{"x=a/b"}, []string{"alias"}},
		{"long alias", "f['x']=np.zeros(4)", []string{"x=" + strings.Repeat("a", 201)}, []string{"200 bytes", "alias"}},
		{"control character", "f['x\\ny']=np.zeros(4)", nil, []string{`field "x\ny"`, "control characters"}},
		{"lzf", "f.create_dataset('x',data=np.zeros((64,8)),chunks=(8,8),compression='lzf')", []string{"x"}, []string{"filter 32000", "HDF5_PLUGIN_PATH"}},
		{"external raw", "f.create_dataset('x',(4,),'i4',external=[(file+'.raw',0,16)])", []string{"x"}, []string{"external raw"}},
		{"virtual", "l=h5py.VirtualLayout((4,),'i4'); l[:]=h5py.VirtualSource('o.h5','d',(4,)); f.create_virtual_dataset('x',l)", []string{"x"}, []string{"virtual"}},
		{"external link", "g=h5py.File(file+'.other','w'); g['d']=np.zeros(4); g.close(); f['x']=h5py.ExternalLink(file+'.other','/d')", []string{"x"}, []string{"external link", "--data"}},
		{"soft into external", "g=h5py.File(file+'.other','w'); g['d']=np.zeros(4); g.close(); f['x']=h5py.ExternalLink(file+'.other','/'); f['y']=h5py.SoftLink('/x/d')", []string{"y"}, []string{"external link"}},
		{"dangling", "f['x']=h5py.SoftLink('/none'); f['y']=np.zeros(3)", []string{"x"}, []string{"no dataset x"}},
	}
	dir := t.TempDir()
	files := map[string]string{}
	for _, c := range cases {
		files[filepath.Join(dir, c.name)] = c.make
	}
	h5pyAll(t, files)
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			file := filepath.Join(dir, c.name)
			s, err := Open([]string{file}, c.fields)
			if err == nil {
				s.Close()
			}
			wantInput(t, err, c.texts...)
			if _, err := Describe(file); err != nil {
				t.Errorf("inspect: %v", err)
			}
		})
	}
}

func TestFilesThatAreNoHDF5(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.h5")
	if err := os.WriteFile(text, []byte("hello, I am a text file and long enough"), 0o600); err != nil {
		t.Fatal(err)
	}
	short := h5py(t, filepath.Join(dir, "short.h5"), "f['x']=np.zeros((100,100))")
	if err := os.Truncate(short, 30000); err != nil {
		t.Fatal(err)
	}
	dead := filepath.Join(dir, "dead.h5")
	python(t, "-c", "import sys,os,h5py\nf=h5py.File(sys.argv[1],'w',libver='latest'); f['x']=[1]; f.flush(); f.swmr_mode=True; os._exit(0)", dead)
	_, err := Open([]string{dead}, nil)
	wantInput(t, err, dead, "h5clear")
	_, err = Open([]string{text}, nil)
	wantInput(t, err, text, "not an HDF5 file")
	_, err = Open([]string{short}, nil)
	wantInput(t, err, short, "truncated")
	_, err = Describe(text)
	wantInput(t, err, "not an HDF5 file")
	_, err = Open([]string{filepath.Join(dir, "none.h5")}, nil)
	wantInput(t, err, "none.h5", "no such file")
	_, err = Open(nil, nil)
	wantInput(t, err, "no data")
}

// Files that do not fit together are named, with both shapes.
func TestFilesThatDoNotFit(t *testing.T) {
	dir := t.TempDir()
	a, b, c, d := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c"), filepath.Join(dir, "d")
	h5pyAll(t, map[string]string{
		a: "f['x']=np.zeros((4,3,2),'f4')",
		b: "f['x']=np.zeros((4,2,2),'f4')",
		c: "f['x']=np.zeros((4,3,2),'i4')",
		d: "f['y']=np.zeros((4,3,2),'f4')",
	})
	_, err := Open([]string{a, b}, nil)
	wantInput(t, err, b, "dataset x", "[2 2]", "[3 2]", a)
	_, err = Open([]string{a, c}, nil)
	wantInput(t, err, c, "<i4", "<f4")
	_, err = Open([]string{a, d}, nil)
	wantInput(t, err, d, "no dataset x", "it has y")
}

func TestResolve(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"p10.h5", "p2.h5", "p1.hdf5", "notes.txt", "x.H5"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("p2.h5", filepath.Join(dir, "z.h5")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o700); err != nil {
		t.Fatal(err)
	}
	at := func(names ...string) (out []string) {
		for _, n := range names {
			out = append(out, filepath.Join(dir, n))
		}
		return out
	}
	good := []struct{ args, want []string }{
		{at("."), at("p1.hdf5", "p2.h5", "p10.h5", "x.H5")},
		{at("p*.h5", "p2.h5", "./p2.h5"), at("p2.h5", "p10.h5")},
		{at("notes.txt"), at("notes.txt")},
		{at("p10.h5", "p2.h5"), at("p2.h5", "p10.h5")},
	}
	for _, c := range good {
		got, err := Resolve(c.args)
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%v: %v, %v", c.args, got, err)
		}
		for i := range got {
			if got[i] != c.want[i] {
				t.Errorf("%v: %v, want %v", c.args, got, c.want)
			}
		}
	}
	for _, bad := range []string{"empty", "none.h5", "q*.h5", "[", "/dev/null"} {
		arg := bad
		if bad[0] != '/' {
			arg = filepath.Join(dir, bad)
		}
		_, err := Resolve([]string{arg})
		wantInput(t, err, arg)
	}
	_, err := Resolve(nil)
	wantInput(t, err, "--data")
}
