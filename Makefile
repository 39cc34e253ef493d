# What to do with this repository. `make` alone lists the targets.
#
# Variables: ARGS are more arguments for what up, test, unit, bench and soak run;
# ROUNDS is how long soak goes on; FUZZTIME is how long fuzz tries each target, FUZZ which of them.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

root := $(CURDIR)
bin := $(root)/bin
module := github.com/slipway-gitops/slipway
lint := $(bin)/golangci-lint
data := .run/up

version := $(shell git describe --tags --always --dirty 2>/dev/null || echo devel)
# No -trimpath: tests and programs share what was compiled.
flags := -ldflags "-X $(module)/internal/cli.version=$(version) -X main.version=$(version)"

# Runs go test, and once more alone what failed; its file lists the tests that passed then.
flaky := $(root)/.run/flaky.txt
retest := $(bin)/retest -record $(flaky)

ROUNDS ?= 20
FUZZTIME ?= 10m
FUZZ ?= Fuzz
ARGS ?=

# Any Go from 1.21 on fetches the one that go.mod names, whatever the environment says of other projects.
export GOTOOLCHAIN := $(shell sed -n 's/^toolchain //p' go.mod)
# What tools/setup.sh installs without root, and Go where its installer puts it.
export PATH := $(root)/.run/tools/bin:$(PATH):/usr/local/go/bin

# Tests find what they need through these, wherever they run.
export SLIPWAY_DEVCLUSTER ?= $(bin)/devcluster

.PHONY: help
help: ## print this list
	@awk 'BEGIN { FS = ":.*## " } /^[a-z][a-z-]*:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: programs devcluster ## build bin/slipway, bin/slipway-agent, bin/slipway-server, bin/bench and bin/devcluster

.PHONY: setup setup-test
setup: ## install what building needs and this machine does not have (as root with apt-get, otherwise from npm)
	@tools/setup.sh build

setup-test:
	@tools/setup.sh test

# The agent as it is shipped: with cgo it is linked for kustomize's Go plugins, which it never loads, and that takes 20 MiB
# of memory for the names of everything in it.
.PHONY: programs
programs: setup web
	@go build $(flags) -o $(bin)/ ./cmd/slipway ./cmd/slipway-server
	@CGO_ENABLED=0 go build $(flags) -o $(bin)/ ./cmd/slipway-agent
	@go build $(flags) -o $(bin)/bench ./test/bench

.PHONY: web
web: packages web/dist/index.html ## build the pages of the user interface, which are inside bin/slipway-server

.PHONY: packages
packages:
	@node web/scripts/packages.mjs || (cd web && echo "web: installing packages" >&2 && npm ci --loglevel error)

web/dist/index.html: $(shell find web/src web/public -not -name '*.test.ts*') $(addprefix web/,index.html package.json package-lock.json vite.config.ts scripts/compress.mjs)
	@cd web && npm run --silent build
	@touch $@

.PHONY: devcluster
devcluster:
	@$(MAKE) -C dev/cluster devcluster BIN=$(bin)/devcluster

.PHONY: up
up: build ## start a cluster, an agent and a demo on this machine, and print what to try
	@$(bin)/slipway up --detach --data $(data) $(ARGS)

.PHONY: down
down: programs ## stop what `make up` started
	@$(bin)/slipway down --data $(data)

# The longest tests wait for agents and clusters more than they work: three at a time keep two cores busy.
.PHONY: test
test: setup-test build retest ## build what the tests need, then run them all; ARGS go to go test
	SLIPWAY_REQUIRE_CLUSTER=1 SLIPWAY_REQUIRE_POSTGRES=1 $(retest) -p 3 -timeout 14m $(ARGS) -- ./...
	cd tools && $(retest) $(ARGS) -- ./...
	cd dev/cluster && $(retest) -trimpath -timeout 5m $(ARGS) -- $$(go list ./... | grep -v '/e2e$$')
	cd dev/registry && $(retest) -timeout 20m $(ARGS) -- ./...
	@$(MAKE) web-specs ARGS=
	@$(retest) -summary

.PHONY: web-e2e
web-e2e: setup-test build retest web-specs ## run the specs of the user interface in Chromium; ARGS go to playwright test

.PHONY: web-specs
web-specs:
	cd web && npm run --silent e2e -- $(ARGS)

# Each run begins with an empty list of flaky tests.
.PHONY: retest
retest:
	@rm -f $(flaky)
	@go build -C tools -o $(bin)/retest ./retest

.PHONY: screenshots
screenshots: build ## make pictures of all pages, light and dark, wide and narrow, in .run/screenshots; ARGS go to playwright test
	@go build $(flags) -o $(bin)/bench-fleet ./test/bench/fleet
	cd web && SLIPWAY_PICTURES=1 node_modules/.bin/playwright test $(ARGS)

# README and guide show these, which are pages of the demo.
images := fleet resources diff
some := $(subst $() $(),|,$(images))

.PHONY: images
images: build ## make the pictures in docs/images again, of a demo of their own
	cd web && SLIPWAY_PICTURES=1 node_modules/.bin/playwright test demo -g 'demo: ($(some))$$'
	@mkdir -p docs/images
	@for name in $(images); do cp .run/screenshots/demo/$$name-light-1440.png docs/images/$$name.png; done

.PHONY: unit
unit: web retest ## run the tests that need no cluster; ARGS go to go test
	cd web && npm run --silent size && npm run --silent test
	SLIPWAY_DEVCLUSTER=none $(retest) -short -timeout 5m $(ARGS) -- ./...
	cd tools && $(retest) -short $(ARGS) -- ./...
	@$(retest) -summary

.PHONY: lint
lint: $(lint) packages ## check the rules of style, imports and formatting in all modules
	$(lint) run --allow-parallel-runners ./...
	cd tools && $(lint) run --allow-parallel-runners ./...
	cd dev/cluster && GOFLAGS="$$(go env GOFLAGS) -trimpath" $(lint) run --allow-parallel-runners ./...
	cd dev/registry && $(lint) run --allow-parallel-runners ./...
	$(lint) fmt --diff
	go vet ./...
	cd tools && go vet ./...
	cd dev/cluster && go vet -trimpath ./...
	cd dev/registry && go vet ./...
	cd web && npm run --silent lint

.PHONY: check
check: setup lint generated licences unit ## what must hold before a commit: lint, generated files, licences, tests without a cluster

.PHONY: licences
licences: ## check the licences of all modules and packages that are shipped
	@go run -C tools ./licences $(root) ./cmd/slipway ./cmd/slipway-server ./cmd/slipway-agent

# The databases of known vulnerabilities are on the network. One that cannot be reached is reported, and is no failure.
.PHONY: audit
audit: ## look for known vulnerabilities in Go modules (govulncheck) and npm packages (npm audit)
	@go build -modfile=tools/go.mod -o $(bin)/govulncheck golang.org/x/vuln/cmd/govulncheck
	@tools/audit.sh $(bin)/govulncheck

# Linking it takes longer than running it, so it is kept until its version changes.
$(lint): tools/go.mod tools/go.sum
	@echo "golangci-lint: building (the first build takes some minutes)" >&2
	@go build -modfile=tools/go.mod -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	@touch $@

argo := api/argo/v1alpha1
out := .run/generate

# Generated files are made beside the tree and move there when all is well.
.PHONY: generate-out
generate-out:
	@rm -rf $(out)
	@mkdir -p $(out)/crd
	go tool -modfile=tools/go.mod controller-gen object crd:maxDescLen=0 paths=./$(argo) output:object:dir=$(out) output:crd:dir=$(out)/crd
	@mv $(out)/zz_generated.deepcopy.go $(out)/deepcopy.gen.go
	go run -C tools ./crdkeep $(root)/$(out)/crd

.PHONY: generate
generate: generate-out ## make the generated files again: *.gen.*, api/openapi.json, pages of docs/reference (fetches a generator with npx)
	@cp $(out)/deepcopy.gen.go $(argo)/
	@cp $(out)/crd/*.gen.yaml $(argo)/crd/
	go test -run Description ./internal/server -update
	go test -run Reference ./internal/cli ./internal/engine/health -update
	cd web && npm run --silent generate

.PHONY: generated
generated: generate-out
	@for file in $$(cd $(out) && find . -type f); do \
		cmp $(out)/$$file $(argo)/$$file || { echo "generated files are out of date: run make generate" >&2; exit 1; }; \
	done
	@node web/scripts/schema.mjs --check
	@node web/scripts/application.mjs --check

.PHONY: fmt
fmt: $(lint) packages ## format all code
	$(lint) fmt
	cd web && npm run --silent format

# Where a real Argo CD has been built (ARGO_HOME/bin/argocd), and scripts that start it and make 40 Applications (SLIPWAY_PEERS).
.PHONY: test-peers
test-peers: ## compare with a real Argo CD: beside it, taking over, and the same Applications; ARGS go to go test (-update)
	@if [ -x "$${ARGO_HOME:-}/bin/argocd" ]; then $(MAKE) programs devcluster && \
		go test ./test/peers -v -count=1 -p 1 -timeout 60m $(ARGS); \
	else echo "test-peers: skipped: no Argo CD at ARGO_HOME/bin/argocd"; fi

.PHONY: bench
bench: build ## measure the engine against its targets; ARGS go to bin/bench
	$(bin)/bench --targets $(ARGS)

.PHONY: bench-fleet
bench-fleet: programs ## measure the control plane with a simulated fleet; ARGS go to bin/bench-fleet
	@go build $(flags) -o $(bin)/bench-fleet ./test/bench/fleet
	$(bin)/bench-fleet --targets $(ARGS)

.PHONY: bench-ui
bench-ui: programs ## measure the pages in Chromium over a simulated fleet; ARGS go to web/scripts/bench.mjs
	@go build $(flags) -o $(bin)/bench-fleet ./test/bench/fleet
	node web/scripts/bench.mjs --targets $(ARGS)

.PHONY: soak
soak: build ## kill and restart things while commits arrive, for ROUNDS rounds (20); then ask for every hostile variant of every request
	SLIPWAY_REQUIRE_CLUSTER=1 SLIPWAY_SOAK_ROUNDS=$(ROUNDS) go test -count=1 -p 1 -timeout 6h -v $(ARGS) ./test/chaos ./test/fleet ./test/scale
	SLIPWAY_SOAK_ROUNDS=$(ROUNDS) go test -count=1 -timeout 30m -v -run TestSlowConnectionsAreNobodyElsesMatter ./test/security
	SLIPWAY_SOAK_PACK=1 go test -count=1 -timeout 30m -v -run TestAPackThatIsTooLargeIsStopped ./internal/git
	SLIPWAY_SOAK_WALK=1 go test -count=1 -timeout 3h -v -run TestNobodyGetsMoreThanTheyMayOnAnyRoute ./test/security

# Each fuzzer has one worker, so that a machine can do something else beside it. An input that fails is kept in testdata/fuzz.
# Inputs are made smaller by a few tries only: where maps are filled, which code runs is not the same twice, and the default
# of 60 s for each input would be nearly all of the time.
.PHONY: fuzz
fuzz: ## try each fuzz target for FUZZTIME (10m), one after the other; FUZZ names some of them, ARGS go to go test
	@failed=; while IFS=: read -r file func; do \
		name=$${func#func }; dir=./$$(dirname "$$file"); \
		echo "$$dir $$name" >&2; \
		SLIPWAY_DEVCLUSTER=none nice -n 19 go test -run='^$$' -fuzz="^$$name\$$" -fuzztime=$(FUZZTIME) -fuzzminimizetime=10x -parallel=1 $(ARGS) $$dir || failed="$$failed $$name"; \
	done < <(grep -roE --include='*_test.go' '^func $(FUZZ)[A-Za-z0-9]*' api internal | sort); \
	[ -z "$$failed" ] || { echo "fuzz: failed:$$failed" >&2; exit 1; }

.PHONY: clean
clean: ## stop what runs and remove everything that was built
	@if [ -x $(bin)/slipway ] && [ -d $(data) ]; then $(bin)/slipway down --data $(data); fi
	rm -rf $(bin) .run dist
