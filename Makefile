# make demo: build the benchmark of the built-in sample and verify it.   make test: run the tests.
# make test-full: run the long tests.   make docs: build the site in build/docs.
# make integrations: try every extra and harness in its own environment.
# All make a virtual environment in .venv and need Python >= 3.11, pip and make, nothing else.
PYTHON ?= python3
OUT ?= out/clavi
BIN := .venv/bin

.PHONY: demo test test-full integrations lint docs clean

demo: .venv/core
	$(BIN)/build-clavi --charades sample --out $(OUT) --fresh
	$(BIN)/stressreel verify $(OUT)
	@echo
	@echo "The dataset is in $(OUT). To load it ($(BIN)/python):"
	@echo '  from datasets import load_dataset'
	@echo '  questions = load_dataset("$(OUT)")'
	@echo '  videos = load_dataset("$(OUT)", "videos", split="test")'

# Bytecode is kept even where that is switched off: the tests start many processes.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal
test: .venv/dev
	$(PYTEST)

# Sweeps, simulations, killed builds and clusters, which take about half an hour on two cores.
test-full: .venv/dev
	$(PYTEST) -m full

# An environment for each extra and harness: 25 GB and more than an hour.
integrations: .venv/dev
	$(BIN)/python .ci/integrations.py

# mypy wants the folder to have the package's name, and a clone may have any.
lint: .venv/dev
	$(BIN)/codespell
	$(BIN)/python .ci/prose.py
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	rm -rf .venv/typed && mkdir -p .venv/typed && ln -s ../.. .venv/typed/stressreel
	cd .venv/typed && MYPYPATH=. ../bin/mypy --config-file ../../pyproject.toml -p stressreel

# Warnings are errors: a link to a page or an anchor that is not there ends the build. All pages are made anew, as they
# also change with the code.
docs: .venv/docs
	$(BIN)/python -m sphinx -q -E -a -W --keep-going docs build/docs
	@echo "The site is in build/docs/index.html."

.venv/core: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

.venv/dev: .venv/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	touch $@

.venv/docs: .venv/core
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	touch $@

clean:
	rm -rf .venv out build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
