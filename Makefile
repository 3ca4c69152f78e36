# All targets work from a fresh clone with Python >= 3.11, pip and make.
#
# One virtual environment serves every target. Each set of packages has a stamp
# file in it, so that packages are installed only when they are needed and again
# when pyproject.toml changes.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
ARGS ?=
GALLERY ?= yes
SPHINXOPTS ?= -W --keep-going

export PIP_DISABLE_PIP_VERSION_CHECK := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test lint format docs bench study clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' Makefile
	@echo
	@echo "Variables: PYTHON (interpreter for $(VENV)), VENV, ARGS (more arguments for pytest), GALLERY=no."

demo: $(VENV)/.stamp-base ## Install the package alone and run the short demonstration
	$(BIN)/python -m skuncertain demo

test: $(VENV)/.stamp-test $(VENV)/.stamp-browser ## Run the tests and the doctests
	$(BIN)/pytest -n auto --dist worksteal $(ARGS)

lint: $(VENV)/.stamp-dev ## Check style, formatting and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/python tools/check_docstrings.py
	$(BIN)/mypy
	$(BIN)/mypy --strict --follow-imports=silent tests/typing

format: $(VENV)/.stamp-dev ## Sort the imports, apply safe fixes and format the code
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.stamp-docs ## Build the documentation in docs/_build/html
	$(BIN)/sphinx-build $(SPHINXOPTS) $(if $(filter no,$(GALLERY)),-D plot_gallery=False) -b html docs docs/_build/html
	$(BIN)/python tools/check_html.py docs/_build/html

bench: $(VENV)/.stamp-docs ## Measure everything, peers included, and write the tables of the docs
	@for script in benchmarks/bench_*.py benchmarks/growth.py; do \
	    echo "== $$script"; \
	    case $$script in \
	        *bench_peers.py|*growth.py) \
	            $(BIN)/python "$$script" --write docs/benchmark_tables || exit 1 ;; \
	        *) $(BIN)/python "$$script" || exit 1 ;; \
	    esac; \
	done

study: $(VENV)/.stamp-base ## Repeat a published benchmark of intervals; hours, goes on where it was
	$(BIN)/python benchmarks/study.py --write docs/benchmark_tables

clean: ## Remove the virtual environments and everything that was generated
	rm -rf .venv .venv-* build dist *.egg-info .coverage .coverage.* htmlcov
	rm -rf docs/_build docs/generated docs/auto_examples benchmarks/.envs
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
	$(BIN)/python -m pip install --quiet --upgrade "pip>=25.1"  # knows dependency groups
	@touch $@

$(VENV)/.stamp-base: pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

# Chromium, for the tests of the pages; asked for once, and where it cannot be had only said so.
$(VENV)/.stamp-browser: tests/install_browser.sh | $(VENV)/.stamp-venv
	tests/install_browser.sh
	@touch $@

# .stamp-test, .stamp-dev, .stamp-docs: the package with its extras and the dependency group of that
# name.
$(VENV)/.stamp-%: pyproject.toml | $(VENV)/.stamp-venv
	$(BIN)/python -m pip install --quiet -e ".[all]" --group $*
	@touch $@
