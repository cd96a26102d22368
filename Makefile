# Two commands: `make demo` shows what openset does, `make test` checks that it does it right.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
CONSTRAINTS ?= --constraint constraints.txt
# One process per core, and one thread in each: small networks do not gain from a second.
# Modules stay compiled, since many tests start the command anew.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/pytest -n auto
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS)

.PHONY: demo test test-all environment lint types tests every-test fuzz chaos mutation adapters cluster docs wheel changelog clean

demo: $(VENV)/.demo
	$(BIN)/openset demo --out openset-demo
	@echo "The results are in openset-demo/."

# What a contributor runs while working: everything but the tests that take long.
# The type checker takes one core for a minute in a fresh clone, so it runs beside the tests.
test: lint
	@$(MAKE) --no-print-directory -j2 types tests

# Everything: what must hold before a change lands. `make test-all MINUTES=8` begins no slow test after 8 minutes, takes them in another
# order each time, and says how many it left out.
test-all: lint
	@$(MAKE) --no-print-directory -j2 types every-test

environment: $(VENV)/.dev

lint: $(VENV)/.dev
	$(BIN)/ruff check src tests benchmarks docs examples
	$(BIN)/ruff format --check src tests benchmarks docs examples
	$(BIN)/codespell src tests benchmarks docs examples README.md CONTRIBUTING.md CHANGELOG.md
	$(BIN)/lint-imports --no-logo

types: $(VENV)/.dev
	$(BIN)/mypy

tests: $(VENV)/.dev
	$(PYTEST) -m 'not slow'

every-test: $(VENV)/.dev
	OPENSET_TEST_MINUTES=$(MINUTES) $(PYTEST)

# Damaged files and odd options for every command; the seed is the date, or OPENSET_FUZZ_SEED.
N ?= 2000
fuzz: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m fuzz $(N)

# Commands that are killed at random moments and run again: make chaos N=100.
chaos: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m chaos $(N)

# Changed places of the measuring code, and whether a test notices: make mutation N=60.
mutation: $(VENV)/.dev
	PYTHONPATH=tests $(BIN)/python -m mutation $(N)

# torchvision's compiled part does not load beside every PyTorch, and other packages import it wherever they see it:
# the tests of what stands on it have it in a folder of its own.
adapters: $(VENV)/.dev
	$(INSTALL) --no-deps --upgrade --target .adapters torchvision timm pytorch-ood
	PYTHONPATH=.adapters $(BIN)/pytest tests/detection/test_predict.py tests/backbones/test_timm.py tests/models/test_published.py tests/train/test_pytorch_ood.py tests/posthoc/test_against_pytorch_ood.py tests/conformance

# Ray and submitit, with what they need, in an environment of their own: workers are started and killed.
CLUSTER := .cluster
cluster:
	$(PYTHON) -m venv $(CLUSTER)
	$(CLUSTER)/bin/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) --editable '.[dev,ray,slurm]'
	OMP_NUM_THREADS=1 $(CLUSTER)/bin/pytest -n 0 tests/scale/test_ray.py tests/scale/test_ray_faults.py tests/studies/test_ray.py tests/studies/test_slurm.py tests/models/test_ray.py tests/_io/test_ray_cluster.py tests/scale/test_stores.py

docs: $(VENV)/.dev
	$(INSTALL) --editable '.[docs]'
	$(BIN)/mkdocs build --strict

# The wheel, tried in an environment of its own: it must bring everything that the commands of the base install need.
wheel:
	rm -rf dist build/wheel
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check build
	build/wheel/bin/python -m build --outdir dist .
	build/wheel/bin/python -m pip install --quiet --disable-pip-version-check $(CONSTRAINTS) dist/*.whl
	cd build && wheel/bin/openset --version && wheel/bin/openset protocols list > wheel/protocols.txt

changelog: $(VENV)/.dev
	$(BIN)/towncrier build --draft --version next

clean:
	rm -rf $(VENV) .adapters .cluster build dist site openset-demo .pytest_cache .mypy_cache .ruff_cache

# An environment is made once and made again when the project's dependencies change.
$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "openset needs Python 3.11 or newer: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.demo: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[torch,data,plot]'
	@touch $@

$(VENV)/.dev: $(BIN)/python pyproject.toml constraints.txt
	$(INSTALL) --editable '.[dev]'
	@touch $@
