package report

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const hostile = `</script><script>alert("1")</script><img src=x onerror='alert(2)'>&amp;rgb(1,2,6)`

var figuresElement = regexp.MustCompile(`(?s)<script type="application/json" id="figures">(.*?)</script>`)

func TestFiguresEqualTheInput(t *testing.T) {
	for _, nodes := range []int{1, 8, 9, 1000} {
		p := somePage(nodes, 7, 2)
		p.Rows[1].Name = hostile
		var decoded Page
		if err := json.Unmarshal([]byte(figuresElement.FindStringSubmatch(written(t, p))[1]), &decoded); err != nil {
			t.Fatal(err)
		}
		if want := decodable(p); !reflect.DeepEqual(decoded, want) {
			t.Errorf("%d nodes: figures are\n%+v, want\n%+v", nodes, decoded, want)
		}
	}
}

// Two nodes, points of 4, 4 and 2 steps: what the nodes' spread is, by hand.
func TestSpread(t *testing.T) {
	r := Row{StepsPerEpoch: 10, Steps: []int{0, 4, 8}, LoadsPerNode: [][]float64{{10, 20, 30}, {20, 10, 30.0005}}}
	want := &spread{
		Min: []float64{10, 10, 30}, Mean: []float64{15, 15, 30}, Max: []float64{20, 20, 30.001},
		ByNode: []float64{18, 18}, // (4x10 + 4x20 + 2x30) / 10
	}
	if got := newSpread(r).rounded(); !reflect.DeepEqual(got, want) {
		t.Errorf("spread is %+v, want %+v", got, want)
	}
}

func TestHostileNames(t *testing.T) {
	p := Page{Title: hostile, Subtitle: hostile, Made: hostile, Command: hostile, Rows: []Row{someRow(hostile, 2, 3, 0.5)}}
	html := written(t, p)
	if n := strings.Count(html, "<script"); n != 1 {
		t.Errorf("%d script elements, want 1", n)
	}
	for _, bad := range []string{"<img", "<script>", "</script><", "&amp;amp;amp;"} {
		if strings.Contains(html, bad) {
			t.Errorf("the page contains %q", bad)
		}
	}
}

func TestNothingFromOutside(t *testing.T) {
	html := written(t, somePage(4, 5, 9))
	html = regexp.MustCompile(` xmlns(:xlink)?="[^"]*"`).ReplaceAllString(html, "")
	outside := regexp.MustCompile(`(?i)https?:|//[a-z]|\bsrc=|\burl\(|@import|\bhref="[^"]*"`)
	if got := outside.FindAllString(html, -1); len(got) != 1 || got[0] != `href="data:,"` {
		t.Errorf("the page refers to %q, want the empty icon alone", got)
	}
}

func TestSizeAndSameness(t *testing.T) {
	for nodes, most := range map[int]int{8: 750_000, 64: 650_000, 1000: 600_000} {
		p := somePage(nodes, 100, 9)
		html := written(t, p)
		t.Logf("%d nodes: %d bytes", nodes, len(html))
		if len(html) > most {
			t.Errorf("%d nodes: %d bytes, want %d at most", nodes, len(html), most)
		}
		if html != written(t, p) {
			t.Errorf("%d nodes: the same page came out otherwise", nodes)
		}
	}
}

// What is missing is left out, and what is there is drawn.
func TestMissingParts(t *testing.T) {
	manySizes := someRow("sizes", 2, 3, 0.5)
	for size := range 600 {
		manySizes.Batches[size] = size
	}
	untimed := someRow("untimed", 2, 3, 0.5)
	untimed.SecondsByEpoch = nil
	noHits, noLoads := someRow("no hits", 2, 3, 0.5), someRow("no loads", 2, 3, 0.5)
	noHits.HitShare, noLoads.LoadsPerNode = nil, nil
	short := someRow("one step", 1, 1, 0)
	short.StepsPerEpoch, short.Steps, short.HitShare, short.LoadsPerNode = 1, []int{0}, []float64{0}, [][]float64{{64}}
	for _, test := range []struct {
		name   string
		rows   []Row
		charts int // 2 of the whole; epochs, steps, nodes where there are several, hits, batches of each row
	}{
		{"no rows", nil, 0},
		{"empty row", []Row{{}}, 1},
		{"one epoch, one node", []Row{someRow("one", 1, 1, 0.5)}, 6},
		{"one step", []Row{short}, 6},
		{"64 nodes", []Row{someRow("wide", 64, 3, 0.5)}, 7},
		{"65 nodes", []Row{someRow("wider", 65, 3, 0.5)}, 6},
		{"no prediction", []Row{untimed}, 6},
		{"a prediction for one of two", []Row{untimed, someRow("timed", 2, 3, 0.5)}, 12},
		{"no hits", []Row{noHits}, 6},
		{"no loads per node", []Row{noLoads}, 5},
		{"600 batch sizes", []Row{manySizes}, 7},
		{"12 rows", slices.Repeat([]Row{someRow("again and again and again", 2, 2, 0.5)}, 12), 62},
	} {
		html := written(t, Page{Title: test.name, Rows: test.rows})
		if got := strings.Count(html, "<svg"); got != test.charts {
			t.Errorf("%s: %d charts, want %d", test.name, got, test.charts)
		}
		if strings.Contains(html, "rgb(") || strings.Contains(html, "NaN") {
			t.Errorf("%s: a colour is not of the style sheet, or a number is none", test.name)
		}
	}
}

func TestBrokenInvariants(t *testing.T) {
	for want, spoil := range map[string]func(*Row){
		"BoundByEpoch has 2 epochs, LoadsByEpoch 3":      func(r *Row) { r.BoundByEpoch = r.BoundByEpoch[:2] },
		"SecondsByEpoch has 1 epochs, LoadsByEpoch 3":    func(r *Row) { r.SecondsByEpoch = []float64{1} },
		"HitShare has 1 points, Steps 200":               func(r *Row) { r.HitShare = r.HitShare[:1] },
		"LoadsPerNode of node 1 has 2 points, Steps 200": func(r *Row) { r.LoadsPerNode[1] = r.LoadsPerNode[1][:2] },
		"step 5 follows 5":                               func(r *Row) { r.Steps[2] = 5 },
		"step 1000 follows 990":                          func(r *Row) { r.Steps[199] = 1000 },
		"infinite or not a number":                       func(r *Row) { r.LoadsPerNode[0][7] = math.NaN() },
		"a figure is infinite":                           func(r *Row) { r.BusiestOverMeanStep = math.Inf(1) },
	} {
		r := someRow("spoilt", 2, 3, 0.5)
		spoil(&r)
		var out strings.Builder
		err := Write(&out, Page{Rows: []Row{r}})
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `row 0 ("spoilt")`) {
			t.Errorf("error is %v, want %q", err, want)
		}
		if out.Len() != 0 {
			t.Errorf("%s: %d bytes were written all the same", want, out.Len())
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWriterFails(t *testing.T) {
	if err := Write(fullDisk{}, somePage(1, 1, 1)); !errors.Is(err, errFull) {
		t.Errorf("error is %v, want %v", err, errFull)
	}
}

func TestRoundTop(t *testing.T) {
	for _, test := range []struct {
		v, top float64
		steps  int
	}{
		{0, 1, 4}, {1, 1, 4}, {0.3, 0.3, 3}, {37, 40, 4}, {64, 80, 4}, {100, 100, 4}, {101, 150, 3}, {6_309_540, 8_000_000, 4}, {1e9, 1e9, 4}, {0.0011, 0.0015, 3},
	} {
		top, steps := roundTop(test.v)
		if math.Abs(top-test.top) > 1e-9*test.top || steps != test.steps {
			t.Errorf("axis to %v ends at %v in %d steps, want %v in %d", test.v, top, steps, test.top, test.steps)
		}
	}
}

func TestAxisNumber(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.25: "0.25", 999: "999", 1000: "1k", 1250: "1.25k", 7_500_000: "7.5M", 2e9: "2G", 37.456: "37.46"} {
		if got := axisNumber(v); got != want {
			t.Errorf("%v is written %q, want %q", v, got, want)
		}
	}
}
