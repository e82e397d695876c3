package main

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	"go.uber.org/goleak"
)

// The listener ends with stop: nothing of it runs on, and nobody answers.
func TestMetricsEnd(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	url := "http://" + l.Addr().String() + "/metrics"
	from := prometheus.NewRegistry()
	from.MustRegister(mountMetrics{func() statusDoc { return statusDoc{} }})
	stop := serveMetrics(l, from, slog.New(slog.DiscardHandler))
	defer http.DefaultClient.CloseIdleConnections()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK || !strings.Contains(string(text), "solarfs_build_info{") {
		t.Errorf("%s, %v:\n%s", answer.Status, err, text)
	}
	stop()
	if _, err := http.Get(url); err == nil {
		t.Error("somebody answers after the end")
	}
}
