# Confide: everything a developer or a steward runs.  Needs Python ≥ 3.11 and make, nothing else:
# the first target makes .venv in this folder from the versions pinned in constraints.txt.
#
#   make test                the fast suite with the core alone
#   make test EXTRAS=all     the same with every optional library (see pyproject.toml)

EXTRAS ?=
WORKERS ?= 2
PYTEST_ARGS ?=
DEMO_OUT ?= demo-out
AREAS ?=
SAMPLE ?= 300
PART ?= 1/1
MINUTES ?=

# The first interpreter that runs and is new enough; PYTHON=/path/to/python overrides.
PYTHON ?= $(shell for name in python3.13 python3.12 python3.11 python3 python python3.14; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 \
	&& { echo $$name; break; }; done)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
comma := ,
# One stamp per set of extras, so that a second run installs nothing.
stamp = $(VENV)/.installed$(if $(1),-$(subst $(comma),-,$(1)))
SOURCES := pyproject.toml constraints.txt
TESTS := $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal

.DEFAULT_GOAL := help
.PHONY: help demo test check static audit mutants bench docs floors flower sbom clean
.DELETE_ON_ERROR:

help:
	@echo 'make demo              set up, then run a whole study on public data into $(DEMO_OUT)/'
	@echo 'make test              set up, then pass the fast tests with the core alone'
	@echo 'make test EXTRAS=all   the same with every optional library'
	@echo 'make check             format, lint, types, import rules, then the fast tests'
	@echo 'make audit             the long suite: samplers, black-box attacks, crash tests (PART=2/4 a quarter of it)'
	@echo 'make mutants           how many of 300 sampled slips in each part of the source a test rejects (AREAS=, SAMPLE=, MINUTES=)'
	@echo 'make bench             benchmarks; peers are installed apart, in .venv-bench-*'
	@echo 'make docs              write the generated pages: schemas, help of every command'
	@echo 'make floors            the demo and a few tests with the lowest versions that pyproject.toml allows'
	@echo 'make flower            a federation over Flower, deployed on loopback; its programs are installed apart, in .venv-flower'
	@echo 'make sbom              the bill of materials (CycloneDX) of what EXTRAS brings, in sbom.cdx.json'
	@echo 'make clean             remove .venv, .venv-bench-* and caches'

$(BIN)/python:
	@test -n '$(PYTHON)' || { \
	  echo 'Confide needs Python 3.11 or newer, and none was found on PATH.' >&2; \
	  echo 'Install one, or say where it is: make test PYTHON=/path/to/python3' >&2; exit 1; }
	@echo 'Making $(VENV) with '"$$($(PYTHON) -V)"
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); \
	  echo 'Python could not make a virtual environment.' >&2; \
	  echo 'On Debian and Ubuntu: apt install python3-venv' >&2; exit 1; }

# Tools and the core; then each set of extras on top of it.
$(call stamp,): $(SOURCES) | $(BIN)/python
	@echo 'Installing Confide and its test tools, pinned in constraints.txt'
	@$(PIP) install --upgrade --constraint constraints.txt pip
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt --group dev --editable .
	@touch $@

ifneq ($(EXTRAS),)
$(call stamp,$(EXTRAS)): $(call stamp,)
	@echo 'Installing extras: $(EXTRAS)'
	@$(PIP) install --constraint constraints.txt --build-constraint constraints.txt --editable '.[$(EXTRAS)]'
	@touch $@
endif

demo:
	@$(MAKE) --no-print-directory run-demo EXTRAS=demo

.PHONY: run-demo
run-demo: $(call stamp,$(EXTRAS))
	$(BIN)/confide demo --out $(DEMO_OUT)

test: $(call stamp,$(EXTRAS))
	$(TESTS) -m 'not audit' $(PYTEST_ARGS)

static: $(call stamp,$(EXTRAS))
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

check: static test

audit: $(call stamp,$(EXTRAS))
	$(TESTS) -m audit --part $(PART) --durations=25 $(PYTEST_ARGS)
	$(TESTS) -m 'hypothesis and not audit' --hypothesis-profile=others --part $(PART) $(PYTEST_ARGS)
	$(if $(filter 1/%,$(PART)),$(BIN)/confide audit)
	$(if $(filter 1/%,$(PART)),@$(MAKE) --no-print-directory mutants EXTRAS='$(EXTRAS)' MINUTES='$(or $(MINUTES),8)')

mutants: $(call stamp,$(EXTRAS))
	$(BIN)/python tests/mutation/run.py --sample $(SAMPLE) $(if $(AREAS),--areas $(AREAS)) $(if $(MINUTES),--minutes $(MINUTES))

bench: $(call stamp,$(EXTRAS))
	$(BIN)/python benchmarks/run_all.py

docs: $(call stamp,$(EXTRAS))
	$(BIN)/python docs/generate.py

floors:
	@PYTHON='$(PYTHON)' WORKERS='$(WORKERS)' .ci/floors

# Flower pins older libraries than Confide's own tests do, so it has an environment of its own.
.venv-flower/.installed: .ci/flower.txt pyproject.toml | $(BIN)/python
	@echo 'Installing Flower and Confide beside it, pinned in .ci/flower.txt'
	@rm -rf .venv-flower && $(BIN)/python -m venv .venv-flower
	@.venv-flower/bin/python -m pip --disable-pip-version-check --quiet install --upgrade --constraint constraints.txt pip
	@.venv-flower/bin/python -m pip --disable-pip-version-check --quiet install \
	  --constraint .ci/flower.txt --build-constraint constraints.txt --editable . flwr
	@touch $@

flower: $(call stamp,$(EXTRAS)) .venv-flower/.installed
	CONFIDE_FLOWER=.venv-flower $(BIN)/python -m pytest -p no:xdist -m 'not audit' tests/deployment $(PYTEST_ARGS)

# Two environments, so that the tool does not list itself; neither is the one that tests run in.
sbom:
	@test -n '$(PYTHON)' || { echo 'Confide needs Python 3.11 or newer.' >&2; exit 1; }
	@rm -rf .venv-sbom && $(PYTHON) -m venv .venv-sbom/tool && $(PYTHON) -m venv .venv-sbom/product
	@.venv-sbom/tool/bin/python -m pip --disable-pip-version-check --quiet install cyclonedx-bom==7.5.0
	@.venv-sbom/product/bin/python -m pip --disable-pip-version-check --quiet install --upgrade --constraint constraints.txt pip
	@.venv-sbom/product/bin/python -m pip --disable-pip-version-check --quiet install \
	  --constraint constraints.txt --build-constraint constraints.txt '.$(if $(EXTRAS),[$(EXTRAS)])'
	@.venv-sbom/product/bin/python -m pip --disable-pip-version-check --quiet uninstall --yes pip setuptools
	@.venv-sbom/tool/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	  --output-format JSON --output-file sbom.cdx.json .venv-sbom/product/bin/python
	@rm -rf .venv-sbom
	@echo 'Written: sbom.cdx.json'

clean:
	rm -rf $(VENV) .venv-sbom .venv-floors .venv-flower .venv-bench-* .mypy_cache .ruff_cache .import_linter_cache .hypothesis
