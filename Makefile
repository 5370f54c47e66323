# From nothing but Python >= 3.11, make and git:
#   make figures   set up, fetch the data, run every stage that is out of date
#   make plan      what that asks and costs, before: make plan MODEL=gpt-4o
#   make claims    which claims of the papers hold, on their own numbers and on this run
#   make test      set up, run all tests
#   make book      build results/book anew from what the stages wrote
#   make keep      pin what is in data/ and push it, see docs/sharing.md
#   make exports   write the run as logs of Inspect, see docs/exports.md
PYTHON ?= python3
# Modules compile once: without this each notebook would start seconds later.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
# `make figures UV=` sets up with plain pip.
UV ?= 0.13.9
READY := $(VENV)/.ready
# How many benchmarks run side by side.
CHAINS ?= 4
# The system's certificates: a company's own is not among those that uv brings along.
HERE := --quiet --no-deps --no-build-isolation -e .
BY_UV := export VIRTUAL_ENV=$(VENV) UV_SYSTEM_CERTS=1; \
	uv pip sync --quiet --require-hashes requirements.lock && uv pip install $(HERE)
BY_PIP := python -m pip install --quiet --no-deps --require-hashes -r requirements.lock && \
	python -m pip install $(HERE)

# The libraries that exports are checked with ask for older versions of what others need.
EXPORT := .venv-export

export PATH := $(CURDIR)/$(BIN):$(PATH)

.PHONY: figures chains changes plan book claims test exports test-exports params verify lint lab data keep lock clean
.DELETE_ON_ERROR:

figures: data params
	@dvc status --quiet && echo 'Everything is up to date.' \
		|| exec python -m tomlab.pipeline.start --for $(MAKE) --no-print-directory chains
	@echo 'The book: results/book/index.html'

# The stages of a benchmark, generation to figures, share no output with those of another, so that each
# benchmark may have a `dvc repro` of its own. The last one, of everything, alone would do the same.
REPRO := dvc --wait-for-lock repro
chains:
	@$(REPRO) --single-item settings
	@names=$$(dvc stage list --name-only | sed -n 's/^figures@/chain-/p; /^fresh@/p; /^changes$$/p'); \
	$(MAKE) --no-print-directory --keep-going --jobs=$(CHAINS) NAMES="$$names" $$names
	@$(REPRO)

chain-%:
	@$(REPRO) --single-item --glob \
		generation@$* filtering@$* 'evaluation@$*-*' judge_calibration@$* figures@$*

fresh@%:
	@$(REPRO) --single-item $@

# It asks about the items of all benchmarks.
changes: $(filter chain-%,$(NAMES))
	@$(REPRO) --single-item $@

# Nothing is asked. MODEL: names of entries in place of run.models.
plan: data
	@python -m tomlab.pipeline.plan $(MODEL)

# The pages alone: from results/, after a change of a text or of the style.
book: data
	@python -m tomlab.pipeline.publish
	@echo 'The book: results/book/index.html'

# What the page on claims finds, in the terminal.
claims: data
	@python checks/claims.py

test: data
	pytest -n 2 --dist loadfile --no-loadscope-reorder

exports: $(READY)
	@python -m tomlab.export

test-exports: $(EXPORT)/.ready data
	pytest tests/export

# Is params.yaml right? Every stage asks first.
params: data
	@python -m tomlab.pipeline.settings

# Were the kept answers given? A sample is asked again, about three minutes.
verify: data
	@python -m tomlab.pipeline.answers verify

lint: $(READY)
	ruff check .
	ruff format --check .

lab: data
	jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) notebooks

data: $(READY)
	@python -m tomlab.pipeline.fetch

# Pin what is in data/ now, and push it to DVC's default remote: .dvcstore, which git holds, or another.
keep: $(READY)
	@dvc add data > /dev/null
	@dvc push data.dvc
	@echo 'To share it: git add data.dvc .dvc .dvcstore docs/answers && git commit'

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'tomlab needs Python 3.11 or newer: make PYTHON=/path/to/python3'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@test -z "$(UV)" || python -m pip install --quiet uv==$(UV) \
		|| echo 'uv is not to be had here; going on with plain pip'
	@rm -f $(READY)
	@test -z "$(UV)" || ! test -x $(BIN)/uv || { $(BY_UV) && touch $(READY); } \
		|| echo 'uv could not install the packages; going on with plain pip'
	@test -f $(READY) || { $(BY_PIP) && touch $(READY); }

$(EXPORT)/.ready: tests/export/requirements.txt $(READY)
	python -m venv --clear $(EXPORT)
	$(EXPORT)/bin/pip install --quiet -c tests/export/requirements.txt inspect-ai pandas pyarrow
	@touch $@

# Pin anew after a change of the dependencies in pyproject.toml.
lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
		--extra compendium --extra dev --group weights \
		--no-annotate --no-header --quiet -o requirements.lock

# Everything that can be made again. Answers that were paid for stay: see .responses/.
clean:
	rm -rf $(VENV) $(EXPORT) results .pytest_cache .ruff_cache .hypothesis
