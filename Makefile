# make run   serve the explorer on http://localhost:7860
# make test  lint, types, import rules, unit, property and browser tests
# make bench measure the search kernels, then all methods on prompts named by DATA

PYTHON ?= python3
PORT ?= 7860
BIN := .venv/bin
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

.PHONY: run test lint bench clean

run: .venv/run.stamp
	$(BIN)/python -m presto fetch
	PORT=$(PORT) $(BIN)/python app.py

test: .venv/dev.stamp lint
	$(BIN)/python -m presto fetch
	PRESTO_CHROMIUM="$$(./.ci/chromium)" $(BIN)/python -m pytest

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/biome lint --error-on-warnings assets/player

bench: .venv/run.stamp
	$(BIN)/python -m presto.benchmarks.search
	$(if $(DATA),$(BIN)/python -m presto bench $(foreach file,$(DATA),--data $(file)) --json bench.json)

.venv/run.stamp: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

clean:
	rm -rf .venv
