package integration

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The benchmark's set: 64 KiB samples, batches of 4 MiB.
const (
	benchSamples = 4096
	benchBatch   = 64
	benchBytes   = benchSamples * 65536
)

// BenchmarkServe reads whole epochs, batch file by batch file, in a process of
// its own: files that were made before ("prepared"), epochs that are assembled
// from the buffer meanwhile ("buffered") and from storage in the page cache
// ("loaded"), beside the same files on tmpfs. Compare within one run.
func BenchmarkServe(b *testing.B) {
	data := filepath.Join(b.TempDir(), "bench.h5")
	make := fmt.Sprintf("import h5py,numpy as np\nwith h5py.File(%q,'w') as f: f['x']=np.random.default_rng(0).random((%d,128,128),dtype='f4')", data, benchSamples)
	if r := run(b, "", python, "-c", make); r.code != 0 {
		b.Fatal(r.stderr)
	}
	if _, err := os.ReadFile(data); err != nil { // into the page cache
		b.Fatal(err)
	}
	b.Run("tmpfs", func(b *testing.B) {
		dir, err := os.MkdirTemp("/dev/shm", "solarfs-bench-")
		if err != nil {
			b.Fatal(err)
		}
		defer os.RemoveAll(dir)
		m := benchMount(b, data, 1, "1GiB", "0B")
		if r := run(b, "", "cp", "-r", m.dir+"/epoch-0000", dir); r.code != 0 {
			b.Fatal(r.stderr)
		}
		for b.Loop() {
			readEpoch(b, dir, 0)
		}
		b.SetBytes(benchBytes)
	})
	for _, serving := range []string{"passthrough", "direct_io"} {
		var options []string
		if serving == "direct_io" {
			options = []string{"-o", serving}
		}
		b.Run("prepared/"+serving, func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				m := benchMount(b, data, 1, "300MiB", "0B", options...)
				for m.status().Memory.Batches < benchBytes {
					time.Sleep(10 * time.Millisecond)
				}
				b.StartTimer()
				readEpoch(b, m.dir, 0)
				b.StopTimer()
				m.down()
				b.StartTimer()
			}
			b.SetBytes(benchBytes)
		})
		for name, buffer := range map[string]string{"buffered": "256MiB", "loaded": "0B"} {
			b.Run(name+"/"+serving, func(b *testing.B) {
				m := benchMount(b, data, 60, "64MiB", buffer, options...)
				readEpoch(b, m.dir, 0)
				epoch := 1
				for b.Loop() {
					readEpoch(b, m.dir, epoch)
					epoch++
				}
				b.SetBytes(benchBytes)
			})
		}
	}
}

func benchMount(b *testing.B, data string, epochs int, window, buffer string, options ...string) *mount {
	b.Helper()
	return newMount(b, append([]string{"--data", data, "--epochs", fmt.Sprint(epochs), "--batch-size", fmt.Sprint(benchBatch), "--window", window, "--buffer", buffer}, options...)...)
}

// readEpoch reads an epoch's batch files with one dd each, a megabyte at a time.
func readEpoch(b *testing.B, dir string, epoch int) {
	b.Helper()
	script := fmt.Sprintf("for f in %s/epoch-%04d/rank-0000/batch-*; do dd if=$f of=/dev/null bs=1M status=none || exit 1; done", dir, epoch)
	if r := run(b, "", "sh", "-c", script); r.code != 0 {
		b.Fatal(r.stderr)
	}
}
