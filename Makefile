# make run   serve the explorer on http://localhost:7860
# make test  lint, types, import rules, unit, property and browser tests
# make bench measure the search kernels, then all methods on prompts named by DATA
# make gpu-check   8 minutes on a GPU machine without network: losslessness, stage shares, tests (docs/gpu.md)
# make gpu-train   10 minutes there: train the embedded drafters

PYTHON ?= python3
PORT ?= 7860
BIN := .venv/bin
export GRADIO_ANALYTICS_ENABLED := False
export HF_HUB_DISABLE_TELEMETRY := 1

# On a machine without network there is no .venv: whatever Python has the requirements.
ANY := $(or $(wildcard $(BIN)/python),$(PYTHON))

.PHONY: run test lint bench gpu-check gpu-train clean

run: .venv/run.stamp
	$(BIN)/python -m presto fetch
	PORT=$(PORT) $(BIN)/python app.py

test: .venv/dev.stamp lint
	$(BIN)/python -m presto fetch
	$(BIN)/python -m pytest -m "not browser" -n logical --maxprocesses 4 --dist worksteal
	chromium=$$(./.ci/chromium) && PRESTO_CHROMIUM=$$chromium $(BIN)/python -m pytest -m browser -n 2 --dist loadfile

lint: .venv/dev.stamp
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/biome format --config-path=.ci assets/player tests/js
	$(BIN)/biome lint --config-path=.ci --error-on-warnings assets/player tests/js

bench: .venv/run.stamp
	$(BIN)/python -m presto.benchmarks.search
	$(if $(DATA),$(BIN)/python -m presto bench $(foreach file,$(DATA),--data $(file)) --json bench.json)

gpu-check:
	$(ANY) -m presto.benchmarks.gpu --json gpu.json

gpu-train:
	$(ANY) -m presto.training.gpu --out gpu-train

.venv/run.stamp: requirements.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	touch $@

.venv/dev.stamp: requirements-dev.txt .venv/run.stamp
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	touch $@

clean:
	rm -rf .venv
