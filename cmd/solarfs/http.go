package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/urfave/cli/v2"
)

// scrapeTime is how long a request may take to be asked, and answers may go on
// when the mount ends.
const scrapeTime = 5 * time.Second

// listen takes the address that --http names; nil if it names none. Without a host
// it is this machine's alone.
func listen(c *cli.Context) (net.Listener, error) {
	address := c.String("http")
	if address == "" {
		return nil, nil
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, wrongUse("%s: %w; give HOST:PORT, or :PORT for 127.0.0.1", source(c, "http"), err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return nil, wrongUse("%s %s: %w; give an address of this machine and a free port, or port 0", source(c, "http"), address, err)
	}
	return l, nil
}

// serveMetrics answers GET /metrics on l until stop is called, which returns when
// nothing of it is left.
func serveMetrics(l net.Listener, from prometheus.Gatherer, log *slog.Logger) (stop func()) {
	errorLog := slog.NewLogLogger(log.Handler(), slog.LevelWarn)
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(from, promhttp.HandlerOpts{ErrorLog: errorLog}))
	server := &http.Server{Handler: mux, ErrorLog: errorLog, ReadHeaderTimeout: scrapeTime, WriteTimeout: scrapeTime, IdleTimeout: time.Minute}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			log.Error("metrics are not served any more", "address", l.Addr(), "err", err)
		}
	}()
	log.Info("metrics are served", "address", "http://"+l.Addr().String()+"/metrics")
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), scrapeTime)
		defer cancel()
		if server.Shutdown(ctx) != nil {
			server.Close()
		}
		<-ended
	}
}
