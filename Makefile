# What people do here. Each target does its own set-up first: Python 3.11 or newer and make are all that must be there.

PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint eval format train bench record record-llm test-llm bench-limit build clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /    make \1	/p' $(MAKEFILE_LIST)

setup:  ## fetch uv if there is none, and install the locked packages into .venv
	@$(PYTHON) -m tools.bootstrap

demo: setup  ## let tasks fail in a throw-away Airflow, and show what was decided about each
	@$(BIN)/python -m demo.run

test: setup  ## run the whole test suite; some of it: make test ARGS="tests/tools -k index"
	$(BIN)/pytest $(or $(ARGS),--ignore=tests/replay)
	$(if $(ARGS),,$(BIN)/pytest tests/replay)  # apart: what an exception is rebuilt as depends on what is loaded

lint: setup  ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

eval: setup  ## score the shipped policy on the corpus, offline; fails if it got worse than gates.toml allows
	@mkdir -p build && rm -f build/eval.*
	@$(BIN)/airflow-common-ai run recordings --policy airflow_common_ai.policies:EvidenceRetryPolicy -o build/eval.jsonl
	@$(BIN)/airflow-common-ai report build/eval.jsonl --gates gates.toml -o build/eval.md -o build/eval.html; \
		verdict=$$?; cat build/eval.md; exit $$verdict

format: setup  ## mend what ruff can mend
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

bench: setup  ## measure decisions and the import, and compare with a model alone; with URL=... the model behind it
	@$(BIN)/python -m benchmarks.run
	@$(BIN)/python -m benchmarks.classifier
	@$(BIN)/python -m benchmarks.models $(if $(URL),--url $(URL)) $(ARGS)

train: setup  ## train the embedded classifier again, and write its model card
	@$(BIN)/python -m tools.train_classifier $(ARGS)

record: setup  ## raise the failures of the corpus again; some of them: make record ARGS="requests_http --show 429"
	@$(BIN)/python -m tools.record $(ARGS)

record-llm: setup  ## ask a real model about recorded failures again: make record-llm URL=http://127.0.0.1:8080
	@$(BIN)/python -m tools.record_llm $(if $(URL),--url $(URL)) $(ARGS)

test-llm: setup  ## attack a real model: make test-llm URL=http://127.0.0.1:8080
	REAL_LLM_URL=$(URL) $(BIN)/pytest tests/real_llm $(ARGS)

bench-limit: setup  ## measure that the limit on a model holds, side by side with the Common AI provider's policy
	@$(BIN)/python -m benchmarks.deadline

build: setup  ## build the source archive and the wheel into dist/
	$(BIN)/hatchling build --directory dist

clean:  ## remove what the targets made
	rm -rf .venv .uv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
