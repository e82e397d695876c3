package h5backend

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// throttled answers reads as a block device with limits does: at most one begins every 1/iops, bytes take their time, and each
// answer comes after latency.
type throttled struct {
	latency   time.Duration
	iops      float64
	bandwidth float64
	mu        sync.Mutex
	free      time.Time // when the device can begin the next
	bytes     int
	places    map[int64]int
}

func (d *throttled) read(_ int, b []byte, at int64) (int, error) {
	d.mu.Lock()
	if now := time.Now(); d.free.Before(now) {
		d.free = now
	}
	busy := max(1/d.iops, float64(len(b))/d.bandwidth)
	d.free = d.free.Add(time.Duration(busy * float64(time.Second)))
	end := d.free.Add(d.latency)
	d.bytes += len(b)
	d.places[at]++
	d.mu.Unlock()
	time.Sleep(time.Until(end))
	return len(b), nil
}

func TestProbeMeasures(t *testing.T) {
	for _, c := range []struct {
		name            string
		device          *throttled
		latency         time.Duration
		rate, bandwidth float64
		longest         time.Duration
	}{
		{"cheap", &throttled{latency: 100 * time.Microsecond, iops: 1e6, bandwidth: 2e9}, 132 * time.Microsecond, 30500, 2e9, 200 * time.Millisecond},
		{"500 IOPS", &throttled{latency: time.Millisecond, iops: 500, bandwidth: 200e6}, 3 * time.Millisecond, 500, 200e6, 600 * time.Millisecond},
		{"slow store", &throttled{latency: 300 * time.Millisecond, iops: 1e6, bandwidth: 1e9}, 300 * time.Millisecond, 53, 13.9e6, time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d := c.device
				d.places = map[int64]int{}
				p := probe{sizes: []int64{1 << 30, 10<<30 + 77}, read: d.read, piece: 64 << 10}
				began := time.Now()
				s, err := p.run(16)
				if err != nil {
					t.Fatal(err)
				}
				near := func(got, want float64) bool { return got > .9*want && got < 1.1*want }
				if !near(float64(s.Latency), float64(c.latency)) || !near(s.Rate, c.rate) || !near(s.Bandwidth, c.bandwidth) {
					t.Errorf("%+v, want %v, %v reads/s, %v bytes/s", s, c.latency, c.rate, c.bandwidth)
				}
				if took := time.Since(began); took > c.longest {
					t.Errorf("it took %v", took)
				}
				if d.bytes > 64<<20 {
					t.Errorf("%d bytes were read", d.bytes)
				}
				for at, n := range d.places {
					if n > 2 || at%sector != 0 {
						t.Errorf("%d reads at %d", n, at)
					}
				}
			})
		})
	}
}

func TestProbeFails(t *testing.T) {
	broken := errors.New("broken")
	p := probe{sizes: []int64{8 << 20}, piece: sector, read: func(int, []byte, int64) (int, error) { return 0, broken }}
	if _, err := p.run(4); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
	p.sizes[0] = leastProbe - 1
	if _, err := p.run(4); err == nil || errors.Is(err, broken) {
		t.Errorf("error %v for small files", err)
	}
}

// On a file system of this machine, with files whose last sector is not whole.
func TestProbeOfFiles(t *testing.T) {
	dir := t.TempDir()
	s := mustOpen(t, []string{
		h5py(t, filepath.Join(dir, "a.h5"), "f['x']=np.zeros((700,4099),'u1')"),
		h5py(t, filepath.Join(dir, "b.h5"), "f['x']=np.zeros((401,4099),'u1')"),
	})
	speed, err := s.Probe(16)
	if err != nil {
		t.Fatal(err)
	}
	if speed.Latency <= 0 || speed.Rate <= 0 || speed.Bandwidth <= 0 {
		t.Errorf("%+v", speed)
	}
	t.Logf("%+v", speed)
	if err := os.Remove(filepath.Join(dir, "b.h5")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Probe(16); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v without the file", err)
	}
}

func TestUnits(t *testing.T) {
	s := mustOpen(t, []string{h5py(t, filepath.Join(t.TempDir(), "a.h5"), `
f['plain']=np.zeros((100,10),'f4')
f.create_dataset('raw',data=np.zeros((100,10),'f4'),chunks=(7,10))
f.create_dataset('gzip',data=np.zeros((100,10),'f4'),chunks=(8,10),compression='gzip')
f.create_dataset('cut',data=np.zeros((100,10),'f4'),chunks=(5,4))
`)}, "plain", "raw", "gzip", "cut")
	u := s.Units()
	if u[0] != (Unit{1, 40}) || u[1] != (Unit{1, 40}) || u[3] != (Unit{5, 200}) {
		t.Errorf("%+v", u)
	}
	if u[2].Samples != 8 || u[2].Bytes < 10 || u[2].Bytes >= 8*40 {
		t.Errorf("gzip: %+v", u[2])
	}
}
