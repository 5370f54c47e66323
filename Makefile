# From nothing but Python >= 3.11, make and git: `make help` lists the targets. The text behind ## is
# what it says of them.
PYTHON ?= python3
# Modules compile once: without this each notebook would start seconds later.
unexport PYTHONDONTWRITEBYTECODE
VENV := .venv
BIN := $(VENV)/bin
# `make figures UV=` sets up with plain pip.
UV ?= 0.13.9
READY := $(VENV)/.ready
# Where uv keeps packages: in the home folder, unless told otherwise.
UV_CACHE = $(or $(UV_CACHE_DIR),$(if $(XDG_CACHE_HOME),$(XDG_CACHE_HOME),$(HOME)/.cache)/uv)
# How many benchmarks run side by side.
CHAINS ?= 4
# The system's certificates: a company's own is not among those that uv brings along.
HERE := --quiet --no-deps --no-build-isolation -e .
BY_UV := export VIRTUAL_ENV=$(VENV) UV_SYSTEM_CERTS=1; \
	uv pip sync --quiet --require-hashes requirements.lock && uv pip install $(HERE)
BY_PIP := python -m pip install --quiet --no-deps --require-hashes -r requirements.lock && \
	python -m pip install $(HERE)

export PATH := $(CURDIR)/$(BIN):$(PATH)
# Make 3.81, which macOS has, ignores that PATH for plain commands unless this is not /bin/sh.
SHELL := $(firstword $(wildcard /bin/bash) /bin/sh)

.PHONY: help figures chains changes plan book claims test storms params verify lint lab data released keep lock clean
.DELETE_ON_ERROR:
.DEFAULT_GOAL := figures

help: ## list the targets
	@sed -n 's/^\([a-z][a-z-]*\):.*## \(.*\)/make \1|\2/p' $(firstword $(MAKEFILE_LIST)) \
		| awk -F'|' '{printf "%-20s %s\n", $$1, $$2}'

figures: data params ## set up, fetch the data, run every stage that is out of date, build the book
	@dvc status --quiet && echo 'Everything is up to date.' \
		|| exec python -m tomlab.pipeline.run $(MAKE) --no-print-directory chains
	@python -m tomlab.pipeline.versions
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
plan: data ## what that would ask and cost, without asking: make plan MODEL=gpt-4o
	@python -m tomlab.pipeline.plan $(MODEL)

# The pages alone: from results/, after a change of a text or of the style.
book: data ## build results/book anew from what the stages wrote
	@python -m tomlab.pipeline.publish
	@echo 'The book: results/book/index.html'

# What the page on claims finds, in the terminal.
claims: data ## which of the papers' claims hold, on their own numbers and on this run
	@python checks/claims.py

test: data ## set up, run all tests
	pytest -n 2 --dist loadfile --no-loadscope-reorder

# KILLS: how many times runs are killed.
storms: $(READY) ## kill runs that ask, fill their disk: what is lost, asked twice, overspent?
	python checks/storms.py --kills $(or $(KILLS),20)

# Is params.yaml right? Every stage asks first.
params: data ## check params.yaml and list every faulty option
	@python -m tomlab.pipeline.settings

# Were the kept answers given? A sample is asked again, about three minutes.
verify: data ## compare the kept answers with their list, ask a sample of them again
	@python -m tomlab.pipeline.answers verify

lint: $(READY) ## check the style of the code and its types
	ruff check .
	ruff format --check .
	mypy

# The notebooks to change are in notebooks/; what the last run made of them is in docs/notebooks/.
lab: data ## open JupyterLab at the front page
	jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
		--LabApp.default_url=/lab/tree/docs/notebooks/00_index.ipynb

data: $(READY) ## set up and fetch the data
	@python -m tomlab.pipeline.fetch

# From where released.yaml says, into released/. For `source: released` in params.yaml.
released: $(READY) ## fetch the benchmarks' released files, or check those that are there
	@python -m tomlab.pipeline.released

# Pin what is in data/ now, and push it to DVC's default remote: .dvcstore, which git holds, or another.
# Only .dvcstore then loses the files of earlier data.
keep: $(READY) ## pin what is in data/ and push it, see docs/sharing.md
	@python -m tomlab.pipeline.keep
	@echo 'To share it: git add data.dvc .dvc .dvcstore docs/answers && git commit'

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo 'tomlab needs Python 3.11 or newer: make PYTHON=/path/to/python3'; exit 1; }
	@test -z "$(UV)" || test -n "$$UV_NO_CACHE" || { mkdir -p "$(UV_CACHE)" && test -w "$(UV_CACHE)"; } 2>/dev/null \
		|| { echo 'uv cannot write to $(UV_CACHE), where it keeps packages. Name a folder that you can write to:'; \
		echo '    make UV_CACHE_DIR=/path/to/a/folder $(MAKECMDGOALS)'; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@test -z "$(UV)" || python -m pip install --quiet uv==$(UV) \
		|| echo 'uv is not to be had here; going on with plain pip'
	@rm -f $(READY)
	@test -z "$(UV)" || ! test -x $(BIN)/uv || { $(BY_UV) && touch $(READY); } \
		|| echo 'uv could not install the packages; going on with plain pip'
	@test -f $(READY) || { $(BY_PIP) && touch $(READY); }
# A downloaded archive has no git; DVC must be told so.
	@test -e .git || dvc config --local core.no_scm true

# Pin anew after a change of the dependencies in pyproject.toml.
lock: ## pin versions again after a change in pyproject.toml
	uv pip compile pyproject.toml --universal --python-version 3.11 --generate-hashes \
		--extra compendium --extra dev --group weights \
		--no-annotate --no-header --quiet -o requirements.lock

# Answers that were paid for stay: see .responses/.
clean: ## remove everything that can be made again; answers stay
	rm -rf $(VENV) results .pytest_cache .ruff_cache .hypothesis
