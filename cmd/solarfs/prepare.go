package main

import (
	"log/slog"
	"os"
	"strings"
)

// prepare does all that can fail before the work of planning.
func (m *mounting) prepare() (err error) {
	if m.options, err = mountOptions(m.c.StringSlice("o")); err != nil {
		return err
	}
	if m.asked, err = askedReading(m.c); err != nil {
		return err
	}
	if m.readyFile, err = freshReadyFile(m.c.String("ready-file")); err != nil {
		return err
	}
	if m.listener, err = listen(m.c); err != nil {
		return err
	}
	return m.openLog()
}

// options are what stands behind -o: ours, and what goes on to the kernel.
type options struct {
	direct, debug bool
	kernel        []string
}

func mountOptions(lists []string) (o options, err error) {
	for _, list := range lists {
		for _, name := range strings.Split(list, ",") {
			switch name {
			case "direct_io":
				o.direct = true
			case "debug":
				o.debug = true
			case "rw":
				return o, wrongUse("-o rw: a solarfs mount is read-only; leave rw out")
			case "", "defaults", "ro", "nosuid", "nodev", "noatime": // what every mount of ours is
			default:
				o.kernel = append(o.kernel, name)
			}
		}
	}
	return o, nil
}

// freshReadyFile is the ready file's path for a daemon, which works in /. A
// killed daemon's file would tell a lie and is removed.
func freshReadyFile(path string) (string, error) {
	if err := checkTarget("--ready-file", path); path == "" || err != nil {
		return "", err
	}
	path, err := absolute(path)
	if err == nil {
		os.Remove(path)
	}
	return path, err
}

// openLog opens the log. A daemon without a log file has none: its starter's
// terminal shows only why it could not start.
func (m *mounting) openLog() (err error) {
	path := m.c.String("log-file")
	if path != "" {
		m.logFile, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
		if err != nil {
			return wrongUse("--log-file: %w", err)
		}
	}
	switch {
	case path != "":
		m.log = slog.New(slog.NewTextHandler(m.logFile, nil))
	case isDaemon():
		m.log = slog.New(slog.DiscardHandler)
	default:
		m.log = slog.New(slog.NewTextHandler(m.c.App.ErrWriter, nil))
	}
	return nil
}
