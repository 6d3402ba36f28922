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

.PHONY: test
test: redis unit sim differential compat process ## all tests, about 10 minutes on two cores

# What takes seconds: the packages and tests/arch. What drives the whole stack
# has targets of its own, one after the other: some tests measure how long an
# outage takes.
UNIT = $(shell $(GO) list -tags $(TAGS) ./... 2>/dev/null | grep -v -e /tests/process -e /tests/compa -e /tests/differential -e /tests/sim -e /tests/recipes)

.PHONY: unit
unit: ## the tests of each package, and the rules of tests/arch
	$(GOTEST) -p 1 -timeout 15m $(UNIT)

export REDFENCE_BIN := $(CURDIR)/bin/redfence

.PHONY: process
process: build ## real nodes under kill, stop and full disk: KILLS=20
	$(GOTEST) -timeout 20m -count=1 ./tests/process $(if $(KILLS),-kills $(KILLS))

.PHONY: nemesis
nemesis: build ## locks on real nodes that are killed, stopped and cut off, judged by porcupine: FAULTS=8, SEED=
	$(GOTEST) -timeout 60m -count=1 -v ./tests/process -run Nemesis $(if $(FAULTS),-faults $(FAULTS)) $(if $(SEED),-seed $(SEED))

.PHONY: fence
fence: build ## the fences of client/fence on PostgreSQL and SQLite, and a holder that is stopped (needs a C compiler)
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "this needs PostgreSQL (Debian: postgresql): install it, or run as root where apt-get is" >&2; exit 1; fi; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends postgresql </dev/null; }
	cd tests/fence && $(GO) vet . && CGO_ENABLED=1 $(GOTEST) -timeout 10m -count=1 .

RECIPES := $(CURDIR)/tmp/recipes
.PHONY: recipes
recipes: build ## the code of docs/recipes.md in Go, Python, Node and Java (needs python3 with venv, node, npm, java and mvn)
	@mkdir -p $(RECIPES)/node
	@[ -x $(RECIPES)/python/bin/pip ] || python3 -m venv $(RECIPES)/python
	$(RECIPES)/python/bin/pip install -q redis==8.1.0
	npm install --silent --no-save --prefix $(RECIPES)/node ioredis@5.11.1
	mvn -B -q -f tests/compat/java/pom.xml dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=$(RECIPES)/java
	RECIPES_PYTHON=$(RECIPES)/python/bin/python3 RECIPES_NODE=$(RECIPES)/node/node_modules RECIPES_JARS='$(RECIPES)/java/*' \
		$(GOTEST) -timeout 10m -count=1 -v ./tests/recipes

.PHONY: compat
compat: build ## real lock libraries: ONLY=redsync for some, RECORD=1 to write down what ran
	$(GOTEST) -timeout 30m -count=1 -parallel 4 -v ./tests/compat $(if $(ONLY),-only '$(ONLY)') $(if $(RECORD),-record)

.PHONY: differential
differential: build redis ## the same commands to redis-server and to Redfence: SEED=
	$(GOTEST) -timeout 20m -count=1 -v ./tests/differential $(if $(SEED),-seed $(SEED))

# redis-server and redis-cli, from the system's packages.
.PHONY: redis
redis:
	@command -v redis-server redis-cli redis-benchmark >/dev/null && exit; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "this needs redis-server, redis-cli and redis-benchmark: install them, or run as root where apt-get is" >&2; exit 1; fi; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends redis-server redis-tools </dev/null

.PHONY: redis-tests
redis-tests: build ## Redis's own tests, where their source is: SOURCE=folder of Redis 7.0.15, ONLY=zset, RECORD=1
	@test -n "$(SOURCE)" || { echo "say SOURCE=folder of the source of Redis 7.0.15" >&2; exit 1; }
	$(GOTEST) -timeout 60m -count=1 -parallel 2 -v ./tests/redistests -source '$(abspath $(SOURCE))' $(if $(ONLY),-only '$(ONLY)') $(if $(RECORD),-record)

.PHONY: compare
compare: build redis faketime ## redfence compare --quick, and what its report must say
	$(GOTEST) -timeout 20m -count=1 -v ./tests/compare

# libfaketime sets a redis-server's wall clock.
.PHONY: faketime
faketime:
	@ls /usr/lib/*/faketime/libfaketime.so.1 >/dev/null 2>&1 && exit; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
		echo "this needs libfaketime (Debian: faketime): install it, or run as root where apt-get is" >&2; exit 1; fi; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends faketime </dev/null

.PHONY: sim
sim: ## simulation of the whole stack: SEED=1 for one run, RUNS=200 for many
	$(GOTEST) -timeout 60m -count=1 ./tests/sim $(if $(SEED),-seed $(SEED)) $(if $(RUNS),-runs $(RUNS),$(if $(SEED),-runs 1))

.PHONY: race
race: ## unit tests and some simulation under the race detector (needs a C compiler)
	@command -v $${CC:-gcc} >/dev/null || { echo "the race detector needs a C compiler" >&2; exit 1; }
	CGO_ENABLED=1 $(GOTEST) -race -short -p 1 -timeout 30m $(UNIT)
	CGO_ENABLED=1 $(GOTEST) -race -timeout 20m -count=1 ./tests/sim -runs 20

.PHONY: mutants
mutants: ## break one promise at a time and see that a test notices
	$(GO) run -tags $(TAGS) ./tests/mutants

.PHONY: bench
bench: build redis etcd ## lock cycles of Redfence, Redis, Redlock and etcd, about twenty-five minutes: QUICK=1, PART=held, OUT=tmp/bench
	mkdir -p '$(or $(OUT),tmp/bench)'
	cd tests/bench && $(GO) vet -tags $(TAGS) . && PATH="$$PATH:$(CURDIR)/tmp/etcd/usr/bin" $(GOTEST) -timeout 90m -count=1 -v . \
		-out '$(abspath $(or $(OUT),tmp/bench))' $(if $(QUICK),-quick) $(if $(PART),-part $(PART))

# Debian's etcd, unpacked and not installed: its package would start a service.
# Without it the rest is measured, and the report says so.
.PHONY: etcd
etcd:
	@command -v etcd >/dev/null && exit; [ -x tmp/etcd/usr/bin/etcd ] && exit; \
	mkdir -p tmp/etcd && cd tmp/etcd && { [ "$$(id -u)" != 0 ] || apt-get update -q >/dev/null; } && \
	apt-get download -qq etcd-server && dpkg-deb -x etcd-server_*.deb . || \
	echo "no etcd here, and none to be had by apt: it will not be run" >&2

.PHONY: bench-micro
bench-micro: ## what a script, a batch and a read cost
	$(GOTEST) -run '^$$' -bench . -benchmem ./fsm/script ./server/replica

.PHONY: bench-guard
bench-guard: ## what a command allocates on its whole way, against the baseline: RECORD=1 writes a new one
	$(GOTEST) -count=1 -v ./tests/guard $(if $(RECORD),-record)

# A count, not a time: a fuzzer that is stopped by the clock while it starts an
# input reports that as a failure.
FUZZTIME ?= 5000x

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME=5000x inputs, or a time such as 5m
	@for pkg in $(UNIT); do \
		for target in $$($(GOTEST) -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
			echo "$$pkg $$target"; \
			$(GOTEST) -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 3x $$pkg; \
		done; \
	done

.PHONY: lint
lint: ## gofmt, go vet, staticcheck and the rules of tests/arch
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$unformatted" ] || { echo "gofmt: $$unformatted" >&2; exit 1; }
	$(GO) vet -tags $(TAGS) ./...
	$(GO) tool -modfile=tools/go.mod staticcheck -checks 'inherit,-ST*' -tags $(TAGS) ./...
	$(GOTEST) ./tests/arch

.PHONY: generate
generate: ## the pages of docs that come from the code
	$(GOTEST) -count=1 ./cmd/redfence -run Page -rewrite
	$(GOTEST) -count=1 ./tests/compat -run Page -rewrite
	$(GOTEST) -count=1 ./tests/redistests -run Page -rewrite

.PHONY: check
check: lint ## what to run before a commit
	$(GOTEST) -short $(UNIT)

.PHONY: ci
ci: test fence recipes lint race fuzz mutants compare ## all of it, under 40 minutes; .ci/run calls this

.PHONY: soak
soak: ## what takes longer: hundreds of kills, thousands of seeds, minutes of fuzzing
	$(MAKE) process KILLS=200
	$(MAKE) nemesis FAULTS=200
	$(MAKE) sim RUNS=5000
	$(GOTEST) -timeout 30m -count=1 ./server/replica -run FaultsOfEveryKind -soak=10m
	$(GOTEST) -timeout 10m -count=1 ./fsm -run NamesLeaveNothing -names 1000000
	$(MAKE) fuzz FUZZTIME=5m

.PHONY: clean
clean: ## remove what the targets made
	rm -rf bin tmp
