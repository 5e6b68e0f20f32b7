# Two commands do everything on a fresh machine with Python 3.11: `make try` and `make test`.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

export UV_PYTHON_DOWNLOADS := never
# A download that fails is tried again; where uv gets nowhere, pip may know the certificates or mirror.
export UV_HTTP_RETRIES := 8
export PIP_RETRIES := 8

.DEFAULT_GOAL := help
.PHONY: help try test check format chaos bench peers lock clean

help:  ## show this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

try: $(STAMP)  ## the whole product on this machine: a local Slack workspace, the bot, sample docs
	@$(BIN)/footnote try $(ARGS)

test: $(STAMP)  ## all tests, with branch coverage
	@$(BIN)/coverage erase
	@$(BIN)/coverage run -m pytest --numprocesses 3 $(ARGS)
	@$(BIN)/coverage combine --quiet
	@$(BIN)/coverage report

check: $(STAMP)  ## format, lint, types, import contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

format: $(STAMP)  ## put the code into its one format
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

chaos: $(STAMP)  ## real processes, broken in every way (two hours; ARGS=--quick: 90 s; ARGS=--help)
	@$(BIN)/python -m tests.chaos $(ARGS)

bench: $(STAMP)  ## speed, measured against the obvious pipeline in the same run (some minutes)
	@$(BIN)/python -m tests.bench $(ARGS)

peers: $(STAMP)  ## our stand-ins against recordings and imitations by others (fetches them)
	@$(BIN)/python -m tests.peers

lock: $(STAMP)  ## renew requirements.lock (versions and hashes of everything)
	@$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev \
		--extra postgres --generate-hashes --no-header --no-annotate pyproject.toml \
		--output-file requirements.lock

clean:  ## remove the environment and what a try left behind
	rm -rf $(VENV) .footnote

$(STAMP): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "Footnote needs Python 3.11 or newer: make PYTHON=python3.11 ..."; exit 1; }
	@echo "Installing into $(VENV) (about a minute)"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r requirements.lock || \
		$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@
