package integration

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// scrape asks a mount for its metrics as Prometheus does.
func scrape(t *testing.T, address string) (text string, values map[string]float64) {
	t.Helper()
	answer, err := http.Get("http://" + address + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s, %v", answer.Status, err)
	}
	return string(all), samplesOf(t, string(all))
}

// samplesOf reads Prometheus's text: each value by its name and labels' values.
func samplesOf(t *testing.T, text string) map[string]float64 {
	t.Helper()
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	values := map[string]float64{}
	for name, family := range families {
		for _, m := range family.Metric {
			key := name
			for _, label := range m.Label {
				key += " " + label.GetValue()
			}
			switch {
			case m.Counter != nil:
				values[key] = m.Counter.GetValue()
			case m.Gauge != nil:
				values[key] = m.Gauge.GetValue()
			case m.Histogram != nil:
				values[key] = float64(m.Histogram.GetSampleCount())
			}
		}
	}
	return values
}

// metricOf names the metric of each figure of status.json; those of by_epoch, errors
// (which are texts) and latency (a histogram's) have none.
var metricOf = map[string]string{
	"hits": "sample_hits_total", "loads": "sample_loads_total", "riders": "sample_riders_total", "riders_missed": "sample_riders_missed_total",
	"strays": "stray_batches_total", "stray_reads": "stray_reads_total", "storage_reads": "storage_reads_total", "bytes_read": "storage_read_bytes_total",
	"storage_retries": "storage_retries_total", "storage_failed": "storage_failed_total", "bytes_served": "served_bytes_total",
	"stall_seconds": "stall_seconds_total", "batch_files_made": "batch_files_made_total", "error_count": "errors_total",
	"epochs": "plan_epochs", "steps_per_epoch": "plan_epoch_steps",
}

var readingMetric = map[string]string{
	"gap": "reading_gap_bytes", "depth": "reading_depth", "requests_per_second": "reading_requests_per_second", "bandwidth": "reading_bytes_per_second",
}

// compareWithStatus wants every number of a status among the metrics.
func compareWithStatus(t *testing.T, values map[string]float64, status map[string]any) {
	t.Helper()
	want := map[string]any{}
	for name, value := range status {
		switch value := value.(type) {
		case float64:
			if name != "pid" && name != "node" {
				want[metricOf[name]] = value
			}
		case map[string]any:
			for part, bytes := range value {
				switch name {
				case "memory":
					want["memory_"+part+"_bytes"] = bytes
				case "reading":
					want[readingMetric[part]] = bytes
				}
			}
		}
	}
	for _, r := range status["ranks"].([]any) {
		rank := r.(map[string]any)
		want[fmt.Sprint("rank_epoch ", rank["rank"])], want[fmt.Sprint("rank_step ", rank["rank"])] = rank["epoch"], rank["step"]
	}
	want[fmt.Sprint("mount_info ", status["node"], " ", status["serving"])] = 1.
	want["storage_request_seconds"] = status["storage_reads"]
	for name, value := range want {
		if got, ok := values["solarfs_"+name]; !ok || got != value {
			t.Errorf("%q is %v among the metrics (there: %v), %v in the status", name, got, ok, value)
		}
	}
}

// settled is a mount's status once the read-ahead rests.
func settled(t *testing.T, m *mount) (status map[string]any) {
	t.Helper()
	last, text := "", solarfs(t, "status", "--json", m.dir)
	for end := time.Now().Add(20 * time.Second); text != last; last, text = text, solarfs(t, "status", "--json", m.dir) {
		if time.Now().After(end) {
			t.Fatalf("the read-ahead does not come to rest:\n%s", text)
		}
		time.Sleep(100 * time.Millisecond)
	}
	if err := json.Unmarshal([]byte(text), &status); err != nil {
		t.Fatal(err)
	}
	return status
}

// What Prometheus scrapes is what the status says, in the form that its checker
// wants, and ends with the mount. A file of the mount shows the same.
func TestMetrics(t *testing.T) {
	data := makeData(t, "gzip7", 300, 1)[0]
	m := newMount(t, "--data", data, "--epochs", "2", "--batch-size", "4", "--ranks-per-node", "2", "--buffer", "5KB", "--window", "200KiB", "--http", ":0")
	for rank := range 2 {
		if r := run(t, "", "sh", "-c", fmt.Sprintf("cat %s/epoch-*/rank-%04d/batch-00000[0-4].* %s/epoch-0001/rank-0000/batch-00003* >/dev/null", m.dir, rank, m.dir)); r.code != 0 {
			t.Fatal(r.stderr)
		}
	}
	status := settled(t, m)
	address := status["http"].(string)
	if !strings.HasPrefix(address, "127.0.0.1:") || !strings.Contains(m.logged(), address) || !strings.Contains(solarfs(t, "status", m.dir), address) {
		t.Errorf("served at %s; the log:\n%s", address, m.logged())
	}
	text, values := scrape(t, address)
	compareWithStatus(t, values, status)
	if values["solarfs_open_seconds"] < 60 || values["solarfs_served_bytes_total"] == 0 || values["solarfs_sample_loads_total"] == 0 {
		t.Errorf("the figures are of no reading:\n%s", text)
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v, %+v", err, problems)
	}
	shown, err := os.ReadFile(filepath.Join(m.dir, ".solarfs", "metrics"))
	if err != nil {
		t.Fatal(err)
	}
	inMount := samplesOf(t, string(shown))
	for name, value := range values {
		if got, ok := inMount[name]; !ok || !strings.HasPrefix(name, "solarfs_") || got != value && !strings.HasPrefix(name, "solarfs_process_") {
			t.Errorf("%s is %v where it is served, %v (there: %v) in the mount", name, value, got, ok)
		}
	}
	m.down()
	if _, err := net.Dial("tcp", address); err == nil {
		t.Error("the listener has outlived the mount")
	}
}
