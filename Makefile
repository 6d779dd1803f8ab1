# make demo and make test set everything up by themselves; a second run uses what the first one made.

VENV   := .venv
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
            $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready
JS     := js/node_modules/.ready
export UV_COMPILE_BYTECODE := 1
# Without bytecode on disk every worker and every process of the tests would compile all sources anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo check coverage mutants test tests lint acceptance bench figures release soak docs javascript screenshots surface vectors tables constraints clean needs
.DEFAULT_GOAL := help

help:  ## show this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /make \1\t/' | expand -t 18

$(READY): pyproject.toml constraints.txt
	@test -n "$(PYTHON)" || { echo "fldp needs Python 3.11 or newer, and found none on the path"; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version), once"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'
	@touch $@

$(JS): js/package.json js/package-lock.json
	@command -v node npm >/dev/null || { echo "fldp's JavaScript client needs Node 20 or newer and npm, and found none on the path"; exit 1; }
	@echo "setting up js/node_modules with Node $$(node --version), once"
	@cd js && npm ci --silent --ignore-scripts --no-audit --no-fund
	@touch $@

demo: $(READY)  ## run the main job on embedded defaults
	@$(BIN)/fldp demo
	@echo "The same live, in a browser: $(BIN)/fldp serve --demo"

lint: $(READY) $(JS)  ## style and types, of Python and of JavaScript
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	cd js && npm run --silent lint

check: lint  ## style, types and the tests that need no server, browser, cluster or database: two minutes
	$(BIN)/python -m pytest -m "not serving and not long" -n $$($(BIN)/python -c "import os; print(os.cpu_count())")

needs:
	@tools/need.sh caddy chromium java nginx node postgresql promtool systemd

test: needs $(READY) $(JS)  ## style, types and all tests
	@$(MAKE) --no-print-directory --jobs 2 lint tests

# Kernels are compiled on one core before the first test runs: the types are checked on another meanwhile. Tests wait for
# browsers and servers, so with more workers than cores a core is rarely idle.
tests: $(READY)
	$(BIN)/python -m pytest -n $$($(BIN)/python -c "import os; print(3 + os.cpu_count())")

# What each room covers is kept, so that rooms can be measured one by one; without ROOM everything is measured anew.
MEASURED = $(CURDIR)/build/coverage/rooms/$(subst /,-,$(or $(ROOM),all))

coverage: $(READY)  ## branch coverage of src/ by all tests, with the processes they start; CASES=25 of each; ROOM=tests/wire adds one room
	@mkdir -p build/coverage/rooms && rm -rf $(if $(ROOM),$(MEASURED) $(MEASURED).*,build/coverage/rooms/*)
	COVERAGE_FILE=$(MEASURED) $(BIN)/coverage run -m pytest -q -n $$($(BIN)/python -c "import os; print(os.cpu_count())") $(if $(CASES),--cases $(CASES)) $(ROOM)
	@$(BIN)/coverage combine --quiet --data-file=$(MEASURED)
	@$(BIN)/coverage combine --quiet --keep --data-file=build/coverage/data build/coverage/rooms/* && $(BIN)/coverage report

mutants: $(READY)  ## change the code in one place at a time, and see whether tests notice; PART=ledger, COUNT=20, SEED=2
	$(BIN)/python tools/mutants.py $(PART) --count $(or $(COUNT),20) --seed $(or $(SEED),1)

acceptance: $(READY)  ## every statistical promise at full size; writes the tables of docs/statistics.md
	$(BIN)/python -m pytest -rP -o python_files='*_acceptance.py' tests/acceptance

bench: $(READY)  ## speed and error, beside the peers, as ratios in one run
	@tools/need.sh postgresql wrk
	@status=0; for part in core one_call one_command oracles questions heavy_hitters collector scale; do $(BIN)/python bench/$$part.py --document || status=$$?; done; exit $$status

figures: $(READY)  ## the paper reproduced: docs/reproduction.md and its figures, a few minutes
	@$(BIN)/fldp experiment paper --output docs
	@$(BIN)/python -m fldp.experiments.paper.figures.notions docs/images/notions.png

soak: $(READY) needs  ## long runs: mutated batches, many rows, a collector under fire; PART=rows, bytes, faults, hostile, oblivious, engines, model, timing or signing for one
	PYTHONPATH=tests $(BIN)/python -m soak.soak $(PART)

release: $(READY) $(JS)  ## build what is published, twice, and try it where nothing else is installed: dist/
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python tools/release.py $(ARGS)

docs: $(READY)  ## build the documentation site, without a network: build/site
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	@echo "build/site/index.html is the documentation; with search: $(BIN)/python -m http.server --directory build/site"

javascript: $(READY) $(JS)  ## build the JavaScript client, and put it where the collector serves it from
	@$(BIN)/python tools/shared_constants.py
	@cd js && npm run --silent vendor

screenshots: $(READY) needs  ## the pictures of the pages in the documents
	$(BIN)/python tools/screenshots.py

surface: $(READY)  ## record the public surface, when a version is released
	$(BIN)/python tools/surface.py

vectors: $(READY)  ## write the test vectors anew
	$(BIN)/python -m fldp.conformance.vectors vectors

tables: $(READY)  ## write the tables of oracles in the documents anew
	$(BIN)/python tools/oracle_tables.py

constraints: $(READY)  ## pin the newest versions of everything
	$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --extra dev \
		--no-header --no-annotate pyproject.toml -o constraints.txt

clean:  ## remove what the other targets made
	rm -rf $(VENV) .venv-peers build dist js/dist js/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +
