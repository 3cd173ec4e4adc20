# The front door. Every target installs what it misses (dev/setup), builds and runs; where all is
# there, no network is touched. The build itself is CMake: see CMakePresets.json.
MAKEFLAGS += --no-print-directory
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

JOBS ?= $(shell nproc)
PREFIX ?= /usr/local
DESTDIR ?=
ROUNDS ?= 200

bindir := $(DESTDIR)$(PREFIX)/bin
libexecdir := $(DESTDIR)$(PREFIX)/libexec/glovebox
docdir := $(DESTDIR)$(PREFIX)/share/doc/glovebox
sharedir := $(DESTDIR)$(PREFIX)/share/glovebox
unitdir := $(DESTDIR)$(PREFIX)/lib/systemd/system

# $(call build,PRESET[,more arguments]): configures and builds one preset.
build = cmake --preset $(1) && cmake --build --preset $(1) --parallel $(JOBS) $(2)
# Files of ours that clang-format and clang-tidy look at.
cpp_files = git ls-files --cached --others --exclude-standard -- '*.h' '*.cc'

.PHONY: help
help: ## this list
	@printf 'glovebox: untrusted Python and MCP servers in a box\n\n'
	@awk -F ' *:.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@printf '\n  JOBS=%s PREFIX=%s DESTDIR=%s\n' '$(JOBS)' '$(PREFIX)' '$(DESTDIR)'

.PHONY: build
build: ## the release programs, in build/bin: glovebox and its parts
	@dev/setup build
	@$(call build,release)
	@install -d build/bin
	@install -m 755 build/release/bin/glovebox{,-egress,-init,-python} build/bin/

.PHONY: install
install: build ## into PREFIX (/usr/local), below DESTDIR if given
	install -d '$(bindir)' '$(libexecdir)' '$(docdir)/docs/plots'
	install -m 755 build/bin/glovebox '$(bindir)/'
	install -m 755 build/bin/glovebox-{egress,init,python} '$(libexecdir)/'
	install -m 644 LICENSE README.md SECURITY.md CHANGELOG.md '$(docdir)/'
	install -m 644 docs/*.md '$(docdir)/docs/'
	install -m 644 docs/plots/*.svg '$(docdir)/docs/plots/'
	install -d '$(unitdir)' '$(sharedir)/apparmor'
	install -m 644 packaging/systemd/glovebox.service '$(unitdir)/'
	install -m 644 packaging/apparmor/glovebox '$(sharedir)/apparmor/'
	sed -i 's|/usr/local/|$(PREFIX)/|g' '$(unitdir)/glovebox.service' '$(sharedir)/apparmor/glovebox'

.PHONY: uninstall
uninstall: ## removes what install put there
	rm -f '$(bindir)/glovebox' '$(libexecdir)'/glovebox-{egress,init,python}
	rm -f '$(unitdir)/glovebox.service'
	rm -rf '$(docdir)' '$(sharedir)'
	if [ -d '$(libexecdir)' ]; then rmdir --ignore-fail-on-non-empty '$(libexecdir)'; fi

.PHONY: dev-install
dev-install: ## every development package, and the git pre-commit hook
	@dev/setup build test lint bench
	@hooks=$$(git rev-parse --path-format=absolute --git-path hooks) && mkdir -p "$$hooks" && \
	  ln -sf "$$PWD/dev/pre-commit" "$$hooks/pre-commit" && echo "pre-commit hook: $$hooks/pre-commit"

# Standard output belongs to the MCP client: everything else goes to standard error. From another
# folder say `make -s -C FOLDER dev`, or make itself announces the folder there.
.PHONY: dev
dev: ## builds, then serves MCP on standard input and output
	@$(MAKE) build 1>&2
	@exec build/bin/glovebox serve

.PHONY: serve-http
serve-http: ## builds, then serves MCP on http://localhost:9015/mcp
	@$(MAKE) build
	@exec build/bin/glovebox serve --transport http --port 9015

.PHONY: mcp-info
mcp-info: ## prints what an MCP client's configuration needs to start this build
	@printf '{\n  "mcpServers": {\n    "glovebox": {\n      "command": "%s",\n%s\n    }\n  }\n}\n' \
	  '$(CURDIR)/build/bin/glovebox' '      "args": ["serve"]'

# The release build is tested whole, isolation included; the sanitized one without the tests that
# need a real box, which is never instrumented.
.PHONY: test
test: export GLOVEBOX_MUST_ISOLATE = 1
test: ## all tests: the release build, then the sanitized one
	@dev/setup build test
	@$(MAKE) build
	@ctest --preset release --parallel $(JOBS)
	@$(call build,dev)
	@ctest --preset dev --parallel $(JOBS)

.PHONY: conformance
conformance: ## the official MCP conformance suites, against a fixture and against glovebox itself
	@dev/setup build test
	@$(MAKE) build
	@ctest --preset release --label-regex conformance --verbose

# One run, one table, one file: build/bench/results.json. A missed bar (bench/bars.py) is a failure.
.PHONY: bench
bench: ## what a call costs beside others, in the same run; ROUNDS=200 of them
	@dev/setup build bench
	@$(MAKE) build
	@cmake --build --preset release --parallel $(JOBS) --target bench_programs
	@mkdir -p build/bench
	@build/release/bin/bench_execution '$(CURDIR)/build/bin/glovebox' \
	  build/release/bin/python_server build/bench/execution.json $(ROUNDS)
	@build/release/bin/language_cost bench/sample_program.py build/bench/language.json $(ROUNDS)
	@/usr/bin/python3 -B bench/bench_protocol.py build/release/bin '$(CURDIR)/build/bin/glovebox' \
	  build/bench/protocol.json
	@/usr/bin/python3 -B bench/bench_jail.py build/release/bin '$(CURDIR)/build/bin/glovebox' \
	  build/bench/jail.json
	@/usr/bin/python3 -B bench/results.py build/bench/results.json build/bench/execution.json \
	  build/bench/language.json build/bench/protocol.json build/bench/jail.json

.PHONY: bench-report
bench-report: ## docs/performance.md and its plots, from the last `make bench`
	@/usr/bin/python3 -B bench/report.py build/bench/results.json docs/performance.md docs/plots

# A registry entry names its owner and where the bundle lies: MCPB_NAME=io.github.you/glovebox
# MCPB_URL=https://.../glovebox.mcpb
.PHONY: mcpb
mcpb: ## an MCP bundle, build/glovebox.mcpb, and its registry entry, build/server.json
	@dev/setup build test
	@$(MAKE) build
	@dev/make_mcpb.py build/bin build $(if $(MCPB_NAME),--name '$(MCPB_NAME)') \
	  $(if $(MCPB_URL),--url '$(MCPB_URL)')

# Exit code 1 of the audit is a weakness: the report is there all the same.
.PHONY: audit
audit: ## every probe on this host and in the box, wall by wall; report in build/audit
	@dev/setup build
	@$(MAKE) build
	@code=0; build/bin/glovebox audit --results build/audit || code=$$?; \
	  echo "$(CURDIR)/build/audit/isolation_report.md"; \
	  echo "$(CURDIR)/build/audit/isolation_report.html"; exit $$code

# Of an image that podman or docker has: make build-sandbox IMAGE=podman:NAME
.PHONY: build-sandbox
build-sandbox: ## the root file system of the container tier, build/sandbox/rootfs, with a manifest
	@dev/setup sandbox
	@dev/build_sandbox build/sandbox $(IMAGE)

.PHONY: test-sandbox
test-sandbox: ## proves build/sandbox/rootfs: hashes, packages, ordinary programs under gVisor
	@dev/setup build test sandbox
	@$(MAKE) build
	@[ -d build/sandbox/rootfs ] || $(MAKE) build-sandbox
	@GLOVEBOX='$(CURDIR)/build/bin/glovebox' /usr/bin/python3 -B tests/snippets/test_sandbox.py \
	  '$(CURDIR)/build/sandbox'

.PHONY: check-deep
check-deep: ## ThreadSanitizer, long fuzzing, soaks; prints a summary for docs/deep-checks.md
	@dev/setup build test lint
	@$(MAKE) build
	@JOBS=$(JOBS) dev/check-deep

.PHONY: config-docs
config-docs: ## writes .env.example and docs/configuration.md from the table of settings
	@dev/setup build
	@cmake --preset release
	@cmake --build --preset release --parallel $(JOBS) --target write_configuration_documents
	@build/release/bin/write_configuration_documents $(CURDIR)

.PHONY: format
format: ## rewrites the C++ in the house format
	@dev/setup lint
	@$(cpp_files) | xargs -r clang-format -i

.PHONY: lint
lint: ## format, house rules, and clang-tidy on a clang build
	@dev/setup build lint
	@$(cpp_files) | xargs -r clang-format --dry-run -Werror
	@/usr/bin/python3 -B dev/tidy.py
	@$(call build,clang)
	@! clang-tidy --dump-config 2>&1 >/dev/null | grep .  # a bad .clang-tidy would pass everything
	@run-clang-tidy -quiet -j $(JOBS) -p build/clang '^$(CURDIR)/(src|fuzz|bench|tests)/.*\.cc$$'

.PHONY: clean
clean: ## removes build/
	rm -rf build
