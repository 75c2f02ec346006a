# Everything runs in .venv, made once from the pinned, hashed requirements; pyproject.toml names what they are made from.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
CORES ?= all
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)

.PHONY: help environment developing demo test test-all test-engine test-fast test-plain scenes-network scenes-claims scenes-scan experiments release schema readme rule-graph golden-plan addresses third-party docs findings lint bench torture fuzz newcomer feature-scales interval-coverage any-cpu gpu-check cluster storage kubernetes bucket pods slurm full-size costs record-costs network-costs wheels-check check-sources lock clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/:/'

INSTALL := $(BIN)/python envs/install.py

# The CUDA that torch is built for; an environment keeps its own until `make CUDA=...` names another. A variable CUDA of
# the shell means something else.
INSTALLED := $(or $(shell cat .venv/cuda 2>/dev/null),13)
ifneq ($(origin CUDA),command line)
CUDA := $(INSTALLED)
endif
LOCK_13 := requirements.txt
LOCK_12 := requirements.txt envs/locks/cuda12.txt
LOCK := $(or $(LOCK_$(CUDA)),$(error CUDA=$(CUDA): there are locked files for 12 and 13; docs/install.md says how other builds are installed))
ANOTHER := $(filter-out $(INSTALLED),$(CUDA))

environment: .venv/complete ## the packages that the workflow runs with, in .venv; CUDA=12 for older drivers and cards
	@$(BIN)/python envs/command.py --check

.PHONY: another
.venv/complete: envs/locks/uv.txt $(LOCK) envs/command.py $(if $(ANOTHER),another)
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "densevse needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -c 'import os, re, sys; found = re.search(r"[\s\x27\"\\$$&;()<>|*?\[\]#`!{}~:]", os.getcwd()); sys.exit(found and f"{os.getcwd()}: no job can be started in a folder with {found[0]!r} in its name; move the project")'
	$(PYTHON) -m venv $(if $(ANOTHER),--clear) .venv
	$(INSTALL) $(LOCK)
	$(BIN)/python envs/command.py
	echo $(CUDA) > .venv/cuda
	touch $@

developing: .venv/developing ## install the further packages of lint, types, tests and benchmarks into .venv

.venv/developing: .venv/complete envs/locks/dev.txt
	$(INSTALL) envs/locks/dev.txt
	touch $@

LONGEST := results/scenes/retrieval/full/sm_lstm/seed0/round0.parquet

.PHONY: disk
disk:
	@$(PYTHON) envs/disk.py

demo: disk environment ## run the generated data set scenes, end to end
	# The longest chain of jobs starts first, as at the end no other jobs would be left to run beside it.
	PYTHONPATH=workflow/loggers $(SNAKEMAKE) --logger timeleft --quiet host reason --prioritize $(LONGEST) --report results/report.html --report-after-run -- all
	@$(BIN)/python -m tools.readme print results
	@echo "The whole table, with intervals and notes: results/tables/scenes.md. Figures: results/figures/scenes/. The report, for a browser: results/report.html."
	@echo "Every intermediate step is a Parquet file below results/scenes/."

# The tests of one file run in one process, as they share fixtures; files start in order.
SPREAD := --numprocesses logical --dist loadfile --no-loadscope-reorder
PYTEST := $(BIN)/python -m pytest $(SPREAD)

test: developing ## run the tests, without the long ones
	$(PYTEST) -m 'not long'

test-all: test ## run every test: those of `make test`, then the long ones
	$(PYTEST) -m long

SLOW := tests/workflow tests/system tests/tools tests/language/test_corenlp.py

ENGINE := .venv-engine/bin/python
ENGINE_NEEDS := snakeproof/requirements.txt snakeproof/tests/requirements.txt

.venv-engine/complete: $(ENGINE_NEEDS)
	$(PYTHON) -m venv --clear .venv-engine
	$(ENGINE) -m pip install --quiet --disable-pip-version-check $(ENGINE_NEEDS:%=-r %)
	touch $@

test-engine: .venv-engine/complete ## run the tests of snakeproof alone, in an environment with only what it needs
	$(ENGINE) -m pytest $(SPREAD) snakeproof/tests

test-fast: developing ## run the tests that neither run the workflow nor take seconds
	$(PYTEST) -m 'not slow and not long' $(addprefix --ignore=,$(SLOW))

COMPUTING := densevse/analyses $(addprefix tests/,benchmarks data device evaluation examples kernels methods models scenes statistics training vision)

test-plain: developing ## run the quick tests that compute as on the plainest processor: none may owe its passing to this one's kernels
	ATEN_CPU_CAPABILITY=default ONEDNN_MAX_CPU_ISA=SSE41 $(PYTEST) -m 'not slow and not long' $(COMPUTING)

RELEASED := results/scenes_pretraining/networks/released/scenes_net

scenes-network: environment ## train the network of scenes again (half an hour) and put it, with its card, into config/networks
	$(SNAKEMAKE) -- $(RELEASED).safetensors
	cp $(RELEASED).safetensors $(RELEASED).md config/networks/
	@echo "Its sha256, for config/networks/scenes_net*.yaml: $$(sha256sum < config/networks/scenes_net.safetensors | cut -d' ' -f1)"

scenes-claims: environment ## make docs/tables/scenes_claims.md and .csv: every claim that is tested on scenes, with ten seeds
	$(SNAKEMAKE) -- results/tables/scenes_claims.md
	cp results/tables/scenes_claims.md results/tables/scenes_claims.csv docs/tables/

scenes-scan: environment ## make docs/tables/scenes_scan.md: SCAN on scenes with three seeds, in about an hour of one core
	$(SNAKEMAKE) -- results/tables/scenes_scan.md
	cp results/tables/scenes_scan.md docs/tables/scenes_scan.md

EXPERIMENTS := sm_lstm_needles sm_lstm_head hm_lstm_cold hm_lstm_cold_more hm_lstm_phrases defrag_frames defrag_scores
EXPERIMENTS += grammar_parse sco_steps sco_oracle sco_cross_fitting
EXPERIMENTS := $(EXPERIMENTS:%=results/experiments/%.md) results/tables/scenes_caption_oracles.md

experiments: environment ## make docs/tables/<experiment>.md, the table of each controlled experiment
	$(SNAKEMAKE) -- $(EXPERIMENTS)
	cp $(EXPERIMENTS) docs/tables/

release: environment ## make release/vsepp-flickr8k/: VSE++ on Flickr8k and its network, for others to search with; commit it nowhere
	$(BIN)/python -m tools.release vsepp flickr8k --configfile examples/flickr8k_lite.yaml

schema: environment ## make config/schema.json, the configuration's schema for editors
	$(BIN)/python -m densevse.config.schema > config/schema.json.part
	mv config/schema.json.part config/schema.json

readme: developing ## update what README.md and docs/ show of the demo: its table, pictures and rounds
	$(SNAKEMAKE) -- results/figures/scenes/one_query.png results/scenes/saliency/sm_lstm/seed0/round0/test_score.parquet
	$(BIN)/python -m tools.readme write results

rule-graph: developing ## make docs/rule-graph.md: the graph of the rules
	$(BIN)/python -m tools.rule_graph

golden-plan: developing ## make tests/workflow/golden_plan.txt: every job of some tables, with its inputs and settings
	$(BIN)/python -P tests/workflow/golden_plan.py tests/workflow/golden_plan.txt

addresses: environment ## write the repository's address of pyproject.toml into CITATION.cff, .zenodo.json and the project's URLs
	$(BIN)/python -m tools.addresses

third-party: developing ## make THIRD_PARTY.md: the works of others, with their licences
	$(BIN)/python -m tools.third_party

docs: developing ## build the site from docs/ into docs/_build/html, offline; any warning is an error
	$(BIN)/python -m docs.generate
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --quiet --builder html docs docs/_build/html
	@echo "The site: docs/_build/html/index.html. Excerpts in its search need a server: $(BIN)/python -m http.server --directory docs/_build/html"

findings: ## run findings/NAME.sh, a surprising behaviour of another library (docs/findings.md): NAME=numpy_norm_of_float16
	timeout 600 bash findings/$(or $(NAME),$(error NAME=...: docs/findings.md lists the findings)).sh

lint: developing ## check style, types, and Snakemake's own lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow densevse snakeproof/example/Snakefile
	$(BIN)/mypy
	$(BIN)/snakemake --lint

bench: developing ## measure the speed targets, each as a ratio of two things measured in one run
	$(BIN)/python -m benchmarks

torture: developing ## interrupt a run in every way, at random moments, and compare bytes
	$(BIN)/python -m tests.system.torture

fuzz: developing ## try 100 damaged files for each reader and 1,000 overrides of the configuration: each works or is refused by name
	$(BIN)/python -W ignore -m tests.system.fuzz

newcomer: developing ## play four mornings of a newcomer: five commands, refused mistakes, reruns, and the table's contents
	$(BIN)/python -m tests.system.newcomer

TRIED := vse vsepp order hm_lstm defrag devise sdt_rnn

feature-scales: developing ## try the settings of Flickr30K on features x 0.1, 1 and 10 of a run of Flickr8k; TRIED="devise scan", OPTIONS="--configfile mine.yaml"
	$(BIN)/python -m tools.feature_scales $(TRIED) $(OPTIONS)

interval-coverage: developing ## measure how often 95% intervals contain the true value, on generated scenes, in some minutes
	$(BIN)/python -m tools.interval_coverage

any-cpu: environment ## show that exact jobs have the same bits on emulated processors, in half an hour; needs qemu-user
	$(BIN)/python -m tools.any_cpu

gpu-check: developing ## time steps at the papers' sizes on this machine's GPU, test it, and compare scenes on it and on the CPU
	$(BIN)/python -m tools.gpu_check

FURTHER := slurm storage kubernetes bucket

$(FURTHER:%=.venv/%): .venv/%: .venv/complete envs/locks/%.txt
	$(INSTALL) envs/locks/$*.txt
	touch $@

.venv/bucket: .venv/storage

cluster: .venv/slurm ## install the further packages for a Slurm cluster into .venv

storage: .venv/storage ## install the further packages for results in a bucket into .venv

kubernetes: .venv/kubernetes ## install the further packages for a Kubernetes cluster into .venv

bucket: .venv/bucket developing ## run the workflow through buckets on this machine: a folder, and an S3 server
	$(PYTEST) tests/system/bucket

pods: .venv/bucket .venv/kubernetes developing ## run profiles/kubernetes with a pretended cluster; afterwards Snakemake starts 2 s slower
	$(BIN)/python -m pytest tests/system/bucket/test_in_pods.py

slurm: cluster developing ## run the workflow through a real Slurm on this machine; needs root, slurm-wlm and munge
	DENSEVSE_SLURM=1 $(BIN)/python -m pytest tests/system/slurm

full-size: developing ## every stage on made-up data of Flickr30k's size, then on MS-COCO's sentences; OPTIONS="--only flickr30k --images 2000"
	$(BIN)/python -m tests.system.full_size $(OPTIONS)

costs: environment ## print the time and memory of each stage of the runs so far
	$(BIN)/python -m densevse.report.costs results

record-costs: environment ## record the same in config/costs.csv for the estimates of `densevse plan`; MACHINE names this one
	$(BIN)/python -m densevse.report.costs results --record config/costs.csv $(if $(MACHINE),--machine "$(MACHINE)")

network-costs: developing ## count the operations of the networks again, for `densevse plan`: config/network_costs.csv
	$(BIN)/python -W ignore -m tools.network_costs > config/network_costs.csv.part
	mv config/network_costs.csv.part config/network_costs.csv

wheels-check: environment ## check that each supported machine has wheels of the pinned packages; asks the package index
	$(BIN)/python envs/wheels.py requirements.txt envs/locks/dev.txt
	$(BIN)/python envs/wheels.py $(LOCK_12)

check-sources: environment ## check that every address of the downloads still answers
	$(BIN)/python -m densevse sources

lock: environment ## make requirements.txt and the files in envs/locks/ from pyproject.toml
	$(BIN)/python -m tools.locks
	$(BIN)/python -m tools.environments

clean: ## remove the workflow's results, but neither downloads nor the environment
	rm -rf results .snakemake
