# fedsift: every chore is a target. `make serve` and `make test` need Python 3.11+ and make, nothing else.
SHELL := /bin/bash
.DEFAULT_GOAL := help
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
HOST ?= 127.0.0.1
PORT ?= 8000
PYTEST_ARGS ?= -n auto --dist worksteal
BROWSER_ARGS ?= -n 0
CHAOS_ARGS ?= -n 0
SECONDS ?= 900
DATABASE ?= sqlite
# `make bench-smoke` sets both: an option of every benchmark, and a folder that has the documents to write into.
SMOKE ?=
INTO ?=
# What the service serves at /guide; deploy/docs.mk builds it.
GUIDE := app/guide/site.zip
# A looser range would take the newest build with its CUDA packages.
TORCH := torch==2.13.0
SERVE_EXTRAS := serve,worker
DEV_EXTRAS := cluster,postgres,telemetry,train,worker
# pip reads [dependency-groups] from 25.1 on; a new environment may have an older one.
NEW_PIP := 'pip>=25.1'
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Bytecode of what is imported is written when it is first imported: compiling all packages takes a third of pip's time.
# 0 means no: pip reads the value as that of `compile`, which the option `--no-compile` sets.
export PIP_NO_COMPILE := 0
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help serve service guide-beside test test-alerts test-browser pictures chaos soak check format install install-dev lock openapi adr bench-sampler bench-solver \
  sampling-tables bench-fedl bench-start bench-service bench-limits bench-overload bench-large bench-smoke capacity upgrade-test experiments experiments-more clean

help: ## Show this list
	@grep -hE '^[a-z -]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("fedsift needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv $(VENV)

# Compiling needs numba, numpy and scipy alone, so it begins before the rest is installed. Nothing here needs setuptools, which Python 3.11
# puts into every new environment.
$(VENV)/.serve: pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -c constraints.txt numba numpy scipy
	PYTHONPATH=$(CURDIR) $(BIN)/python -m sampler.warm_up first & \
	{ $(BIN)/python -m pip install -q -c constraints.txt -e '.[$(SERVE_EXTRAS)]' && $(BIN)/python -m pip uninstall -q -y setuptools; } \
	  || { kill $$!; exit 1; }; wait $$!
	@touch $@

$(VENV)/.dev: pyproject.toml clients/python/pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install -q -c constraints.txt $(NEW_PIP)
	$(BIN)/python -m pip install -q -c constraints.txt -e '.[$(DEV_EXTRAS)]' -e clients/python --group dev
	$(BIN)/python -m sampler.warm_up
	@touch $@ $(VENV)/.serve

install: $(VENV)/.serve ## Install the service and its worker into .venv
install-dev: $(VENV)/.dev ## Install what the tests and the checks need into .venv

# The guide is built beside the service, at a low priority. Without the guide the service runs all the same.
serve: ## Start the service with a validation worker (HOST=127.0.0.1 PORT=8000)
	@$(MAKE) --no-print-directory -j 2 service guide-beside

service: $(VENV)/.serve
	$(BIN)/fedsift serve --host $(HOST) --port $(PORT) --workers 1

guide-beside: | $(VENV)/.serve
	-@nice $(MAKE) --no-print-directory $(GUIDE)

# Suites that need other tools are skipped, visibly, and have targets of their own: test-browser, test-clients, test-flower, ...
test: $(VENV)/.dev ## Run the tests that need Python alone; PYTEST_ARGS='-n auto --durations=20' lists the slowest
	$(BIN)/python -m pytest $(PYTEST_ARGS)

# Needs Chromium (Debian: apt-get install chromium). The tests run one after the other: some measure frame rates.
test-browser: $(VENV)/.dev ## Test the studio in a real browser
	$(BIN)/python -m pytest tests/browser $(BROWSER_ARGS)

# Needs promtool (Debian: apt-get install prometheus).
test-alerts: $(VENV)/.dev ## Check the alert rules and the dashboard with promtool and a live service
	$(BIN)/python -m pytest tests/deploy/test_monitoring.py $(PYTEST_ARGS)

pictures: $(VENV)/.dev ## Take the pictures of the studio in docs/images/ anew (needs Chromium)
	PYTHONPATH=. $(BIN)/python docs/images/take.py

# The clock is stepped by libfaketime (Debian: apt-get install faketime), and a small disk is mounted, which needs root.
chaos: $(VENV)/.dev ## Make faults on purpose against real processes, and print a table (minutes)
	$(if $(SMOKE),,$(BIN)/python -m pytest -m chaos tests/chaos $(CHAOS_ARGS))
	$(BIN)/python -m benchmarks.chaos $(SMOKE)

soak: $(VENV)/.dev ## Make random faults for a while: SECONDS=900 DATABASE=sqlite (or postgres)
	$(BIN)/python -m benchmarks.chaos.soak --seconds $(SECONDS) --database $(DATABASE) $(SMOKE)

check: $(VENV)/.dev ## Format, lint, strict types, import contract, tests: what CI runs
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/mypy deploy/image/*.py deploy/dist/*.py docs/adr/index.py
	$(BIN)/lint-imports
	$(BIN)/python -m pytest $(PYTEST_ARGS)

format: $(VENV)/.dev ## Format the code and apply the linter's fixes
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: ## Pin the newest version of every dependency in constraints.txt
	rm -rf build/lock && $(PYTHON) -m venv build/lock
	build/lock/bin/python -m pip install -q $(NEW_PIP)
	build/lock/bin/python -m pip install -q '.[$(DEV_EXTRAS)]' --group dev --group docs $(TORCH)
	{ echo '# Every version this project is tested with, made by `make lock`. Install with: pip install -c constraints.txt'; \
	  build/lock/bin/python -m pip freeze --exclude fedsift | sed 's/+cpu$$//'; } > constraints.txt

openapi: $(VENV)/.dev ## Write the OpenAPI documents, 3.1 and 3.0, into docs/
	$(BIN)/fedsift openapi > docs/openapi.json
	$(BIN)/fedsift openapi --version 3.0 > docs/openapi-3.0.json

adr: ## Write the index of decisions, docs/adr/README.md
	$(PYTHON) docs/adr/index.py

bench-solver: $(VENV)/.dev ## Check the fast solver against CVXPY, then time it beside Clarabel and CVXPY
	$(BIN)/python -m benchmarks.solver_speed $(SMOKE)

bench-sampler: $(VENV)/.dev ## Compare the samplers: quality of the chosen sets, and latency
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks.sampler_quality $(SMOKE)

# Flower pins its own web framework, so it has an environment of its own. Without it its numbers are null.
build/flower/.ready: deploy/clients/flower.txt
	-$(PYTHON) -m venv build/flower && build/flower/bin/python -m pip install -q --no-deps -r $< \
	  && build/flower/bin/python -m pip install -q $(TORCH) -e clients/python \
	  && touch $@

# The last line of a benchmark is one JSON object; that of the percentiles has the sets that a test repeats.
RESULT = $(SMOKE) | tail -n 1 > $(INTO)docs/results/samplers
sampling-tables: SHELL := /bin/bash -o pipefail
sampling-tables: $(VENV)/.dev ## Measure the tables of docs/sampling.md and docs/model-card.md anew (half an hour on two idle cores)
	$(BIN)/python -m benchmarks.sampler_objectives --devices 10 $(RESULT)/objectives-10.json
	$(BIN)/python -m benchmarks.sampler_objectives --devices 100 $(RESULT)/objectives-100.json
	$(BIN)/python -m benchmarks.holdings_estimate $(RESULT)/holdings.json
	$(BIN)/python -m benchmarks.sampler_quality --only ten $(RESULT)/ten-devices.json
	$(BIN)/python -m benchmarks.sampler_quality --only large $(RESULT)/large.json
	$(BIN)/python -m benchmarks.sampler_scale $(RESULT)/scale.json
	$(BIN)/python -m benchmarks.gcn_heldout $(RESULT)/held-out.json
	$(BIN)/python -m benchmarks.noisy_histograms $(RESULT)/noisy-histograms.json
	$(BIN)/python -m benchmarks.noisy_histograms --data mnist --networks 5 --sizes 200,600 \
	  $(RESULT)/noisy-histograms-mnist.json
	$(BIN)/python -m benchmarks.sampler_tables --docs $(INTO)docs

bench-fedl: $(VENV)/.dev $(if $(SMOKE),,build/flower/.ready) ## Time FedL rounds: compiled engine, plain PyTorch and Flower
	$(BIN)/python -m benchmarks.fedl_speed $(SMOKE)

bench-start: ## Time `make serve` in a fresh clone of the last commit, with its parts (a minute on two idle cores)
	@$(PYTHON) -m benchmarks.start_up

bench-service: $(VENV)/.dev ## Measure throughput and latency of the service, beside the bare solver and an empty endpoint
	$(BIN)/python -m benchmarks.service_speed $(SMOKE)

capacity: $(VENV)/.dev ## Measure what plans of different sizes cost, and show what is answered beyond each limit
	$(BIN)/python -m benchmarks.capacity $(SMOKE) --docs $(INTO)docs

# UPGRADE='--database postgres', or --old-image localhost/fedsift for the images of `make image`.
upgrade-test: $(VENV)/.dev ## Upgrade two servers and a worker under load, one after the other (UPGRADE=options)
	$(BIN)/python -m benchmarks.rolling_upgrade $(UPGRADE) $(SMOKE)

bench-overload: $(VENV)/.dev ## Send ten times what the service can answer, for a minute
	$(BIN)/python -m benchmarks.service_overload $(SMOKE)

bench-limits: $(VENV)/.dev ## Time plans with a time limit, for every sampler, and threads whose client has left
	$(BIN)/python -m benchmarks.time_limits $(SMOKE)

bench-large: $(VENV)/.dev ## Plan networks of 10^5 and 10^6 devices through the binary route
	$(BIN)/python -m benchmarks.service_large $(SMOKE)

include $(wildcard deploy/*.mk)

# The paper's evaluation as docs/reproduction.md shows it, and training under churn as docs/churn.md does. The most important runs come
# first, and a run that was stopped continues where it was. FAN='--dask tcp://HOST:8786' runs on a cluster; FAN=--estimate runs one of each
# kind only and says how long the rest takes. FEDSIFT_MESH_DIR names the folder of real meshes. η is tuned on other networks than the reported ones.
# Kernels are compiled for a common processor, so that curves are equal bit by bit on all machines of this kind.
PORTABLE := $(if $(filter x86_64,$(shell uname -m)),NUMBA_CPU_NAME=x86-64-v3 NUMBA_CPU_FEATURES=)
EXPERIMENT = $(PORTABLE) $(BIN)/fedsift experiment
FAN ?= -j 2
NETWORKS = --seeds 20:26
CLAIMS = $(BIN)/python -m fedl_sim.reproduce.claims $(INTO)docs/results && \
  $(BIN)/python -m fedl_sim.reproduce.document $(addprefix $(INTO),docs/churn.md docs/reproduction.md README.md docs/guide/choosing.md)
experiments: $(VENV)/.dev ## Repeat the paper's evaluation: docs/results/ and the tables made of it (hours)
	@test -n "$$FEDSIFT_MESH_DIR" || { echo 'set FEDSIFT_MESH_DIR to a folder of meshes, see docs/experiments.md: without it the table "beyond" would lose them' >&2; exit 2; }
	$(EXPERIMENT) convergence $(NETWORKS) --budget scarce -o $(INTO)docs/results/convergence-scarce $(FAN)
	$(EXPERIMENT) accuracy $(NETWORKS) --budget tight --sizes 100 -o $(INTO)docs/results/accuracy-tight $(FAN)
	$(EXPERIMENT) resources $(NETWORKS) --budget tight -o $(INTO)docs/results/resources-tight $(FAN)
	$(EXPERIMENT) tune --seeds 90:92 -o $(INTO)docs/results/tune $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget scarce --sizes 700 --setting fair -o $(INTO)docs/results/convergence-scarce-fair $(FAN)
	$(EXPERIMENT) accuracy $(NETWORKS) --budget tight --sizes 100 --setting fair -o $(INTO)docs/results/accuracy-tight-fair $(FAN)
	$(EXPERIMENT) resources $(NETWORKS) --budget tight --setting fair -o $(INTO)docs/results/resources-tight-fair $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget tight --sizes 700 -o $(INTO)docs/results/convergence-tight $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget loose --sizes 700 -o $(INTO)docs/results/convergence-loose $(FAN)
	$(EXPERIMENT) ours $(NETWORKS) -o $(INTO)docs/results/ours $(FAN)
	$(EXPERIMENT) labels --seeds 20:28 -o $(INTO)docs/results/labels $(FAN)
	$(EXPERIMENT) beyond $(NETWORKS) --budget tight -o $(INTO)docs/results/beyond $(FAN)
	$(EXPERIMENT) sampling --seeds 20:32 -o $(INTO)docs/results/sampling $(FAN)
	$(EXPERIMENT) solver --seeds 20:23 -o $(INTO)docs/results/solver $(FAN)
	$(EXPERIMENT) churn --seeds 100:112 -o $(INTO)docs/results/churn-loose $(FAN)
	$(EXPERIMENT) churn --seeds 100:112 --budget tight -o $(INTO)docs/results/churn-tight $(FAN)
	$(CLAIMS)

experiments-more: $(VENV)/.dev ## The panels that experiments leaves out: N = 200 in Figs. 6 and 7, N = 600 and 800 in Table I under other budgets and the fair setting
	$(EXPERIMENT) accuracy $(NETWORKS) --budget tight -o $(INTO)docs/results/accuracy-tight $(FAN)
	$(EXPERIMENT) accuracy $(NETWORKS) --budget tight --setting fair -o $(INTO)docs/results/accuracy-tight-fair $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget scarce --setting fair -o $(INTO)docs/results/convergence-scarce-fair $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget tight -o $(INTO)docs/results/convergence-tight $(FAN)
	$(EXPERIMENT) convergence $(NETWORKS) --budget loose -o $(INTO)docs/results/convergence-loose $(FAN)
	$(CLAIMS)

# Everything above that is measured, at its smallest size, as CI runs it; nothing is written into docs/, but into a copy. Estimates of studies
# of small networks leave this copy as it is, so figures, claims and documents must come out as they are committed.
BENCHMARKS := bench-solver bench-sampler sampling-tables bench-fedl bench-service bench-limits bench-overload bench-large capacity upgrade-test \
  soak chaos
STUDIES := experiments experiments-more figures
COPY := build/smoke/
SMALL = $(MAKE) --no-print-directory INTO=$(COPY) SMOKE=--smoke PORTABLE= FAN='--quick --estimate --aggregations 1 --sizes 40 --rates $(COPY)tune.json --cells $(COPY)cells'
bench-smoke: $(VENV)/.dev ## Run every benchmark and study at its smallest size (minutes), and compare what studies write with docs/
	rm -rf $(COPY) && mkdir -p $(COPY) && cp -r README.md docs $(COPY)
	$(SMALL) $(STUDIES)
	diff -r -x '*.png' docs $(COPY)docs && diff README.md $(COPY)README.md
	$(SMALL) $(BENCHMARKS)

clean: ## Remove what the other targets made
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
