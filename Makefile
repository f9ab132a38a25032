# The few commands of this project; `make help` lists them.
SHELL := /bin/bash
VERSION ?= $(shell git describe --tags --always 2>/dev/null || echo dev)
COMMIT ?= $(shell git rev-parse HEAD 2>/dev/null)$(shell git diff --quiet HEAD 2>/dev/null || echo +dirty)
LDFLAGS := -s -w -X main.version=$(VERSION) -X main.commit=$(COMMIT)
export CGO_ENABLED ?= 0

.PHONY: help build demo test setup check lint golden bench release clean nightly test-heavy

help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t12

build: ## build ./assay: static, reproducible
	go build -trimpath -ldflags '$(LDFLAGS)' -o assay ./cmd/assay

demo: build ## a whole run on the built-in simulated engine, in less than a minute
	./assay demo --data .demo

setup: ## get what the tests use, where this machine allows it
	scripts/setup

test: setup check ## set up, check, and run every test with the race detector
	scripts/test

test-heavy: ## what needs vLLM on the CPU and other clients; gets them first into .cache/heavy (9 GB, about ten minutes)
	scripts/setup-heavy
	scripts/setup-clients
	scripts/setup-routers
	ASSAY_ROUTERS=$(CURDIR)/.cache/heavy/routers nice -n 10 go test -count=1 -v -run HeavyRouters ./agent/routing
	ASSAY_VLLM=$(CURDIR)/.cache/heavy ASSAY_CLIENTS=$(CURDIR)/.cache/heavy nice -n 10 go test -count=1 -timeout 40m -v -run 'VLLM|HeavyClients' ./runner/real ./cmd/assay

check: ## formatting, vet, static analysis
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "not formatted:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	scripts/lint

golden: ## rewrite the golden files; read the difference before committing it
	go test ./plan ./probes ./probes/field ./containers ./containers/docker ./containers/engine ./containers/field ./store ./report ./report/export ./result ./runner/metrics ./runner/field ./runner/load/dialect ./runner/external ./sim -update

nightly: ## every fuzz target for FUZZTIME (60s each), then the heavy tests
	scripts/nightly

bench: ## measure what docs/performance.md claims, and write it there (5 to 6 minutes of a quiet machine)
	scripts/bench

release: ## static binaries for linux/amd64 and linux/arm64 in dist/
	for arch in amd64 arm64; do GOOS=linux GOARCH=$$arch go build -trimpath -ldflags '$(LDFLAGS)' -o dist/assay-linux-$$arch ./cmd/assay || exit 1; done
	cd dist && sha256sum assay-linux-* > SHA256SUMS

clean: ## remove what was built; .cache stays
	rm -rf assay dist .demo .test-output
