package report

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// tab is a tab of a headless Chromium, and what it has asked for and complained of.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu         sync.Mutex
	requests   []string
	complaints []string
}

func newTab(t *testing.T) *tab {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("chromium is not on PATH, and the report is checked in it: run scripts/setup.sh test")
	}
	limited, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	// Chromium has no sandbox for root.
	ctx, stop := chromedp.NewContext(limited, chromedp.WithAllocatorOptions(chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU))
	t.Cleanup(stop)
	b := &tab{t: t, ctx: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatalf("start %s: %v", path, err)
	}
	return b
}

func (b *tab) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *network.EventRequestWillBeSent:
		b.requests = append(b.requests, e.Request.URL)
	case *runtime.EventConsoleAPICalled:
		b.complaints = append(b.complaints, fmt.Sprintf("console.%s", e.Type))
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, e.ExceptionDetails.Text)
	case *log.EventEntryAdded:
		b.complaints = append(b.complaints, e.Entry.Text)
	}
}

// open loads the page from a file and returns what was asked for, and what complained of, meanwhile.
func (b *tab) open(html string) (requests, complaints []string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, []byte(html), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.mu.Lock()
	b.requests, b.complaints = nil, nil
	b.mu.Unlock()
	if err := chromedp.Do(b.ctx, chromedp.Navigate("file://"+file)); err != nil {
		b.t.Fatalf("open the page: %v", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.requests, b.complaints
}

// show emulates a screen, or paper ("print"), of the scheme "light" or "dark" and of a width in pixels.
func (b *tab) show(media, scheme string, width int64) {
	b.t.Helper()
	err := chromedp.Do(b.ctx, chromedp.EmulateViewport(width, 800), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
	if err != nil {
		b.t.Fatalf("show the page on %s, %s: %v", media, scheme, err)
	}
}

func evaluate[T any](b *tab, expression string) T {
	b.t.Helper()
	value, err := chromedp.Run(b.ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		b.t.Fatalf("evaluate %s: %v", expression, err)
	}
	return value
}

func TestInChromium(t *testing.T) {
	p := somePage(3, 5, 3)
	p.Rows[1].Name, p.Rows[1].SecondsByEpoch = hostile, nil
	p.Rows = append(p.Rows, someRow("sixteen", 16, 5, 0.5))
	b := newTab(t)

	// The ear must hear something before its silence means anything.
	requests, complaints := b.open(`<!DOCTYPE html><img src="missing.png"><script>console.error("heard"); undefined()</script>`)
	if len(requests) != 2 || len(complaints) < 2 {
		t.Fatalf("of a broken page, requests %q and complaints %q were heard", requests, complaints)
	}
	requests, complaints = b.open(written(t, p))
	if len(requests) != 1 || !strings.HasSuffix(requests[0], "/report.html") {
		t.Errorf("requests %q, want the page alone", requests)
	}
	if len(complaints) != 0 {
		t.Errorf("the browser complains: %q", complaints)
	}
	t.Run("figures", func(t *testing.T) { checkFigures(t, b, p) })
	t.Run("charts", func(t *testing.T) { checkCharts(t, b) })
	t.Run("schemes", func(t *testing.T) { checkSchemes(t, b) })
	t.Run("widths", func(t *testing.T) { checkWidths(t, b) })
}

// checkFigures compares the JSON that the page holds, and what a reader sees, with the input.
func checkFigures(t *testing.T, b *tab, p Page) {
	encoded := evaluate[string](b, `JSON.stringify(JSON.parse(document.getElementById("figures").textContent))`)
	var decoded Page
	if err := json.Unmarshal([]byte(encoded), &decoded); err != nil {
		t.Fatal(err)
	}
	if want := decodable(p); !reflect.DeepEqual(decoded, want) {
		t.Errorf("figures are\n%+v, want\n%+v", decoded, want)
	}
	evaluate[chromedp.Void](b, `document.querySelectorAll("details").forEach(d => d.open = true)`)
	tables := evaluate[map[string][][]string](b, `Object.fromEntries([...document.querySelectorAll("table")].map(
		t => [t.caption.innerText, [...t.rows].map(r => [...r.cells].map(c => c.innerText))]))`)
	for caption, want := range wantTables(p) {
		if len(tables[caption]) != len(want) {
			t.Errorf("table %q has %d rows, want %d", caption, len(tables[caption]), len(want))
			continue
		}
		for i, got := range tables[caption] {
			if !slices.Equal(got, want[i]) {
				t.Errorf("table %q: row %d reads %q, want %q", caption, i, got, want[i])
			}
		}
	}
	if n := evaluate[int](b, `document.scripts.length + document.images.length`); n != 1 {
		t.Errorf("%d scripts and images, want the figures alone", n)
	}
}

// checkCharts looks for charts that draw nothing, lie outside their frame or have no words.
func checkCharts(t *testing.T, b *tab) {
	wrong := evaluate[[]string](b, `[...document.querySelectorAll("figure")].filter(f => {
		const frame = f.querySelector("svg").getBoundingClientRect();
		const inside = e => { const r = e.getBoundingClientRect(); return r.left >= frame.left - 3 && r.right <= frame.right + 3 && r.bottom <= frame.bottom + 3 };
		return frame.height < 50 || !f.querySelector("[role=img]").ariaLabel || ![...f.querySelectorAll("svg text")].every(inside);
	}).map(f => f.innerText)`)
	if len(wrong) != 0 {
		t.Errorf("charts are empty, without words or larger than their frame: %q", wrong)
	}
	// Loads and seconds of all, then for each of 4 rows epochs, steps, nodes, hits and batches.
	if n := evaluate[int](b, `document.querySelectorAll("figure svg").length`); n != 2+4*5 {
		t.Errorf("%d charts, want 22", n)
	}
}

func checkSchemes(t *testing.T, b *tab) {
	for _, test := range []struct{ media, scheme, page, line string }{
		{"screen", "light", "rgb(255, 255, 255)", "rgb(18, 63, 138)"},
		{"screen", "dark", "rgb(18, 22, 28)", "rgb(160, 202, 255)"},
		{"print", "dark", "rgb(255, 255, 255)", "rgb(18, 63, 138)"},
	} {
		b.show(test.media, test.scheme, 1200)
		if got := evaluate[string](b, `getComputedStyle(document.body).backgroundColor`); got != test.page {
			t.Errorf("%s, %s: the page is %s, want %s", test.media, test.scheme, got, test.page)
		}
		if got := evaluate[string](b, `getComputedStyle(document.querySelector("#epochs ~ .figures path[style*=loads]")).stroke`); got != test.line {
			t.Errorf("%s, %s: loads are %s, want %s", test.media, test.scheme, got, test.line)
		}
	}
}

func checkWidths(t *testing.T, b *tab) {
	for _, width := range []int64{320, 380, 800, 1600} {
		b.show("screen", "light", width)
		if got := evaluate[int64](b, `document.documentElement.scrollWidth`); got > width {
			t.Errorf("the page is %d pixels wide on a screen of %d", got, width)
		}
	}
	b.show("screen", "light", 380)
	if size := evaluate[float64](b, `Math.min(...[...document.querySelectorAll("svg text")].map(e => 12 * e.getScreenCTM().a))`); size < 9.5 {
		t.Errorf("text in charts is %.1f pixels high on a phone", size)
	}
}
