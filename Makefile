# Everything runs in .venv, made once from the pinned, hashed requirements; pyproject.toml names what they are made from.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
CORES ?= all
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)

.PHONY: help environment developing demo test test-all test-fast scenes-network scenes-claims experiments schema readme rule-graph third-party docs lint bench torture fuzz newcomer cluster slurm full-size costs record-costs wheels-check check-sources lock clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/:/'

INSTALL := $(BIN)/python envs/install.py

environment: .venv/complete ## the packages that the workflow runs with, in .venv

.venv/complete: requirements-uv.txt requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if (3, 11) <= sys.version_info < (3, 14) else "densevse needs Python 3.11, 3.12 or 3.13; name one: make PYTHON=python3.12")'
	$(PYTHON) -c 'import os, re, sys; found = re.search(r"[\s\x27\"\\$$&;()<>|*?\[\]#`!{}~:]", os.getcwd()); sys.exit(found and f"{os.getcwd()}: no job can be started in a folder with {found[0]!r} in its name; move the project")'
	$(PYTHON) -m venv .venv
	$(INSTALL) requirements.txt
	$(BIN)/python envs/command.py
	touch $@

developing: .venv/developing ## what lint, types, tests and benchmarks need besides, in .venv

.venv/developing: .venv/complete requirements-dev.txt
	$(INSTALL) requirements-dev.txt
	touch $@

LONGEST := results/scenes/retrieval/full/sm_lstm/seed0/round0.parquet

.PHONY: disk
disk:
	@$(PYTHON) envs/disk.py

demo: disk environment ## the embedded data set, end to end
	# The longest chain of jobs begins first: at the end nothing would be left to run beside it.
	PYTHONPATH=workflow/loggers $(SNAKEMAKE) --logger timeleft --quiet host reason --prioritize $(LONGEST) --report results/report.html --report-after-run -- all
	@sed '/^## 95%/,$$d' results/tables/scenes.md
	@echo "The whole table, with intervals and notes: results/tables/scenes.md. Figures: results/figures/scenes/. The report, for a browser: results/report.html."
	@echo "Every intermediate step is a Parquet file below results/scenes/."

# The tests of one file run in one process, as they share what is made for it; the first file begins first.
PYTEST := $(BIN)/python -m pytest --numprocesses logical --dist loadfile --no-loadscope-reorder

test: developing ## the tests but for the long ones
	$(PYTEST) -m 'not long'

test-all: test ## every test: those of `make test`, then the long ones
	$(PYTEST) -m long

SLOW := tests/workflow tests/system tests/language/test_corenlp.py

test-fast: developing ## the tests that neither run the workflow nor take seconds
	$(PYTEST) -m 'not slow and not long' $(addprefix --ignore=,$(SLOW))

RELEASED := results/scenes_pretraining/networks/released/scenes_net

scenes-network: environment ## train the network of scenes again (half an hour) and put it, with its card, into config/networks
	$(SNAKEMAKE) -- $(RELEASED).safetensors
	cp $(RELEASED).safetensors $(RELEASED).md config/networks/
	@echo "Its sha256, for config/networks/scenes_net*.yaml: $$(sha256sum < config/networks/scenes_net.safetensors | cut -d' ' -f1)"

scenes-claims: environment ## docs/tables/scenes_claims.md: every claim that is tested on scenes, with three seeds
	$(SNAKEMAKE) -- results/tables/scenes_claims.md
	cp results/tables/scenes_claims.md docs/tables/

EXPERIMENTS := sm_lstm_needles hm_lstm_cold hm_lstm_cold_more defrag_frames sco_steps sco_oracle

experiments: environment ## docs/tables/<experiment>.md: every controlled experiment
	$(SNAKEMAKE) -- $(EXPERIMENTS:%=results/experiments/%.md)
	cp $(EXPERIMENTS:%=results/experiments/%.md) docs/tables/

schema: environment ## config/schema.json, which tells editors what the configuration may hold
	$(BIN)/python -m densevse.config.schema > config/schema.json.part
	mv config/schema.json.part config/schema.json

readme: developing ## the demo's table and picture in README.md, from its results
	$(BIN)/python -m tests.readme results

rule-graph: developing ## docs/rule-graph.md: which rule feeds which
	$(BIN)/python -m tests.rule_graph

third-party: developing ## THIRD_PARTY.md: what comes from others, and its licences
	$(BIN)/python -m tests.third_party

docs: developing ## the site, from docs/ into docs/_build/html; without the network, and any warning is an error
	$(BIN)/python -m docs.generate
	$(BIN)/sphinx-build --fail-on-warning --keep-going --nitpicky --quiet --builder html docs docs/_build/html
	@echo "The site: docs/_build/html/index.html"

lint: developing ## style, types, and Snakemake's own lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/snakemake --lint

bench: developing ## speed targets, each as a ratio of two things measured in one run
	$(BIN)/python -m benchmarks

torture: developing ## interrupt a run in every way, at random moments, and compare bytes
	$(BIN)/python -m tests.system.torture

fuzz: developing ## 100 spoilt files for each reader, 1,000 overrides of the configuration: each is read, or refused by name
	$(BIN)/python -W ignore -m tests.system.fuzz

newcomer: developing ## three mornings of somebody new: what is refused, what runs again, what the table says
	$(BIN)/python -m tests.system.newcomer

.venv/slurm: .venv/complete requirements-slurm.txt
	$(INSTALL) requirements-slurm.txt
	touch $@

cluster: .venv/slurm ## what running on a Slurm cluster needs besides, in .venv

slurm: cluster developing ## the workflow through a real Slurm on this machine; needs root, slurm-wlm and munge
	DENSEVSE_SLURM=1 $(BIN)/python -m pytest tests/system/slurm

full-size: developing ## every stage on made-up data of Flickr30k's size, and the memory of each
	$(BIN)/python -m tests.system.full_size

costs: environment ## time and memory of each stage of what was run so far
	$(BIN)/python -m densevse.report.costs results

record-costs: environment ## the same, kept in config/costs.csv for the estimates of `densevse plan`; MACHINE names this one
	$(BIN)/python -m densevse.report.recorded_costs results config/costs.csv $(if $(MACHINE),--machine "$(MACHINE)")

wheels-check: environment ## whether each supported machine has wheels of what is pinned; asks the package index
	$(BIN)/python envs/wheels.py requirements.txt requirements-dev.txt

check-sources: environment ## whether every address of what is downloaded still answers
	$(BIN)/python -m densevse sources

COMPILE := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate

lock: environment ## pyproject.toml -> requirements*.txt
	$(COMPILE) pyproject.toml -o requirements.txt
	$(COMPILE) --constraint requirements.txt --group dev -o requirements-dev.txt
	$(COMPILE) --constraint requirements.txt --group uv -o requirements-uv.txt
	$(COMPILE) --constraint requirements.txt --extra slurm pyproject.toml -o requirements-slurm.txt
	$(COMPILE) --constraint requirements.txt --extra eccv-caption pyproject.toml -o requirements-eccv-caption.txt
	$(COMPILE) --constraint requirements.txt --extra networks pyproject.toml -o requirements-networks.txt
	$(BIN)/python -m tests.environments

clean: ## remove what the workflow made, but neither downloads nor the environment
	rm -rf results .snakemake
