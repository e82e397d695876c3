# make          builds bin/solarfs
# make help     lists the targets
.DEFAULT_GOAL := build
.NOTPARALLEL:
.PHONY: build compile demo test race bench lint setup clean help

export PATH := $(PATH):/usr/local/go/bin
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
GOTEST  := go test -count=1 -p 2
BENCH   := full

build: ## build bin/solarfs, installing compiler and libraries if they are missing
	@scripts/setup.sh build
	@$(MAKE) --no-print-directory compile

compile:
	@mkdir -p bin
	go build -trimpath -buildvcs=false -ldflags '-X main.version=$(VERSION)' -o bin/solarfs ./cmd/solarfs

demo: ## train a small CNN from two mounts and from h5py, and compare
	@scripts/setup.sh demo
	@$(MAKE) --no-print-directory compile
	@bin/solarfs demo

test: setup compile ## run all tests, with real mounts, h5py and PyTorch
	@scripts/check-fuse.sh
	$(GOTEST) -timeout 15m ./...

race: setup ## run all tests under the race detector
	@scripts/check-fuse.sh
	$(GOTEST) -race -timeout 20m ./...

bench: ## measure solarfs beside DataLoader and rclone; 25 minutes, with BENCH=quick 3
	@scripts/setup.sh bench
	@scripts/check-fuse.sh
	@mkdir -p bin
	@go build -o bin/bench ./integration/bench
	@bin/bench --suite $(BENCH) --json bin/bench.json --svg bin/bench.svg

lint: ## gofmt, vet, staticcheck, file length, import direction
	@scripts/setup.sh build
	@scripts/lint.sh

setup: ## install everything that build, demo and test need
	@scripts/setup.sh test

clean: ## remove what make built
	rm -rf bin

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
