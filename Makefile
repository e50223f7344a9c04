# make run    sets everything up and runs the first experiment
# make test   sets everything up and checks everything: lint, import contracts, some kernels as plain Python, all tests
# make docs   writes the tables of docs/experiment.md and the pictures in docs/pictures
# make lock   resolves the dependencies again and writes requirements.lock
PYTHON ?= python3
BIN := .venv/bin
STAMP := .venv/installed
PARALLEL := -n auto --maxprocesses 4

.PHONY: run test lock docs install clean

run: $(STAMP)
	$(BIN)/simnet run experiments/quickstart.yaml

test: $(STAMP)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	NUMBA_DISABLE_JIT=1 $(BIN)/pytest $(PARALLEL) tests/network -k "not packet"
	$(BIN)/pytest $(PARALLEL)

docs: $(STAMP)
	$(BIN)/python docs/generate.py

install: $(STAMP)

# Every file is a wheel whose hash stands in the lock: no compiler, no build downloads. The build system of simnet
# itself comes from the lock too, hence no build isolation.
$(STAMP): requirements.lock setup.cfg pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "simnet needs Python 3.11 or later")'
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --only-binary :all: --require-hashes -r requirements.lock
	$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

# For every supported Python and platform at once; uv is needed for nothing else.
lock:
	test -x $(BIN)/pip || $(PYTHON) -m venv --clear .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--custom-compile-command 'make lock' --extra dev --upgrade --output-file requirements.lock setup.cfg

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .ruff_cache .hypothesis .import_linter_cache
