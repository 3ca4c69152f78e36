# All targets work from a fresh clone with Python >= 3.11, pip and make.
#
# One virtual environment serves every target. Each set of extras has a stamp
# file in it, so that packages are installed only when they are needed and again
# when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
SPHINXOPTS ?= -W --keep-going

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format docs bench clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Variables: PYTHON (interpreter for $(VENV)), VENV, ARGS (more arguments for pytest)."

demo: $(VENV)/.stamp-base ## Install the package alone and run the short demonstration
	$(BIN)/python -m skuncertain demo

test: $(VENV)/.stamp-test $(VENV)/.stamp-browser ## Run the tests and the doctests
	$(BIN)/pytest -n auto $(ARGS)

lint: $(VENV)/.stamp-dev ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent tests/typing

format: $(VENV)/.stamp-dev ## Sort the imports, apply safe fixes and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.stamp-docs ## Build the documentation in docs/_build/html
	$(BIN)/sphinx-build $(SPHINXOPTS) -b html docs docs/_build/html

bench: $(VENV)/.stamp-base ## Run every benchmarks/bench_*.py and print what it measures
	@found=no; \
	for script in benchmarks/bench_*.py; do \
	    test -e "$$script" || continue; \
	    found=yes; \
	    echo "== $$script"; \
	    $(BIN)/python "$$script" || exit 1; \
	done; \
	test $$found = yes || echo "There is no benchmarks/bench_*.py."

clean: ## Remove the virtual environments and everything that was generated
	rm -rf .venv .venv-* build dist *.egg-info .coverage .coverage.* htmlcov
	rm -rf docs/_build docs/generated docs/auto_examples
	rm -rf .pytest_cache .ruff_cache .mypy_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/.stamp-venv:
	@command -v "$(PYTHON)" >/dev/null || { \
	    echo "error: '$(PYTHON)' was not found. Install Python 3.11 or newer, or name one:" >&2; \
	    echo "       make PYTHON=python3.11 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	    echo "error: Python 3.11 or newer is needed, but '$(PYTHON)' is $$("$(PYTHON)" --version 2>&1)." >&2; \
	    echo "       Name a newer one: make PYTHON=python3.11 ..." >&2; exit 1; }
	@"$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null || { \
	    echo "error: '$(PYTHON)' cannot create virtual environments (the module venv or ensurepip is missing)." >&2; \
	    echo "       Install it (on Debian and Ubuntu: the package python3-venv) or name another" >&2; \
	    echo "       interpreter: make PYTHON=python3.11 ..." >&2; exit 1; }
	"$(PYTHON)" -m venv $(VENV)
	@touch $@

$(VENV)/.stamp-base: pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

# Chromium, for the tests of the pages; asked for once, and where it cannot be had only said so.
$(VENV)/.stamp-browser: tests/install_browser.sh | $(VENV)/.stamp-venv
	tests/install_browser.sh
	@touch $@

# .stamp-test, .stamp-dev, .stamp-docs: the package with the extra of that name.
$(VENV)/.stamp-%: pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet -e ".[$*]"
	@touch $@
