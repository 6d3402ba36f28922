# Everything that a person or a machine does with this repository. `make` lists it.
# Packages are installed by the targets that need them, under ./tmp.

SHELL      := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

TAGS    := hashicorpmetrics
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS := -X main.version=$(VERSION)
GO      := go
GOTEST  := $(GO) test -tags $(TAGS)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/redfence
	$(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/redfence ./cmd/redfence

.PHONY: run
run: build ## one node on 127.0.0.1:6379, data in ./redfence-data
	exec ./bin/redfence serve

.PHONY: cluster
cluster: build ## three local nodes, data in ./tmp/cluster; Ctrl-C stops all
	exec ./deploy/local-cluster ./bin/redfence ./tmp/cluster

.PHONY: clean
clean: ## remove what the targets made
	rm -rf bin tmp
