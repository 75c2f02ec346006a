# Everything runs in .venv, made once from the pinned, hashed requirements.
SHELL := /bin/bash
PYTHON ?= python3
BIN := .venv/bin
.DEFAULT_GOAL := help
CORES ?= $(shell nproc)
SNAKEMAKE := $(BIN)/snakemake --cores $(CORES)

.PHONY: help environment demo test test-fast scenes-network scenes-claims schema rule-graph lint bench torture fuzz newcomer cluster slurm full-size costs record-costs lock clean

help: ## what can be made
	@grep -E '^[a-z-]+:.*##' Makefile | sed 's/:.*##/:/'

environment: .venv/complete ## the packages, in .venv

.venv/complete: requirements.txt
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "densevse needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -c 'import os, re, sys; found = re.search(r"[\s\x27\"\\$$&;()<>|*?\[\]#`!{}~:]", os.getcwd()); sys.exit(found and f"{os.getcwd()}: no job can be started in a folder with {found[0]!r} in its name; move the project")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements.txt
	touch $@

LONGEST := results/scenes/retrieval/full/sm_lstm/seed0/round0.parquet

demo: environment ## the embedded data set, end to end
	# The longest chain of jobs begins first: at the end nothing would be left to run beside it.
	$(SNAKEMAKE) --quiet host reason progress --prioritize $(LONGEST) --report results/report.html --report-after-run -- all
	@sed '/^## 95%/,$$d' results/tables/scenes.md
	@echo "The whole table, with intervals and notes: results/tables/scenes.md. Figures: results/figures/scenes/. The report, for a browser: results/report.html."
	@echo "Every intermediate step is a Parquet file below results/scenes/."

PYTEST := $(BIN)/python -m pytest --numprocesses logical --dist loadgroup

test: environment ## the tests
	$(PYTEST)

SLOW := tests/workflow tests/system tests/language/test_corenlp.py

test-fast: environment ## the tests that neither run the workflow nor take seconds
	$(PYTEST) -m 'not slow' $(addprefix --ignore=,$(SLOW))

RELEASED := results/scenes_pretraining/networks/released/scenes_net

scenes-network: environment ## train the network of scenes again (half an hour) and put it, with its card, into config/networks
	$(SNAKEMAKE) -- $(RELEASED).safetensors
	cp $(RELEASED).safetensors $(RELEASED).md config/networks/
	@echo "Its sha256, for config/networks/scenes_net*.yaml: $$(sha256sum < config/networks/scenes_net.safetensors | cut -d' ' -f1)"

scenes-claims: environment ## results/tables/scenes_claims.md: what each paper claims, on scenes with three seeds
	$(SNAKEMAKE) -- results/tables/scenes_claims.md results/tables/scenes_claims_regions.md

schema: environment ## config/schema.json, which tells editors what the configuration may hold
	$(BIN)/python -m densevse.config.schema > config/schema.json.part
	mv config/schema.json.part config/schema.json

rule-graph: environment ## docs/rule-graph.md: which rule feeds which
	$(BIN)/python -m tests.rule_graph

lint: environment ## style, types, and Snakemake's own lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile workflow
	$(BIN)/mypy
	$(BIN)/snakemake --lint

bench: environment ## speed targets, each as a ratio of two things measured in one run
	$(BIN)/python -m benchmarks

torture: environment ## interrupt a run in every way, at random moments, and compare bytes
	$(BIN)/python -m tests.system.torture

fuzz: environment ## 100 spoilt files for each reader, 1,000 overrides of the configuration: each is read, or refused by name
	$(BIN)/python -W ignore -m tests.system.fuzz

newcomer: environment ## three mornings of somebody new: what is refused, what runs again, what the table says
	$(BIN)/python -m tests.system.newcomer

.venv/slurm: .venv/complete requirements-slurm.txt
	$(BIN)/pip install --quiet --disable-pip-version-check --require-hashes --requirement requirements-slurm.txt
	touch $@

cluster: .venv/slurm ## what running on a Slurm cluster needs besides, in .venv

slurm: cluster ## the workflow through a real Slurm on this machine; needs root, slurm-wlm and munge
	DENSEVSE_SLURM=1 $(BIN)/python -m pytest tests/system/slurm

full-size: environment ## every stage on made-up data of Flickr30k's size, and the memory of each
	$(BIN)/python -m tests.system.full_size

costs: environment ## time and memory of each stage of what was run so far
	$(BIN)/python -m densevse.report.costs results

record-costs: environment ## the same, kept in config/costs.csv for the estimates of `densevse plan`; MACHINE names this one
	$(BIN)/python -m densevse.report.recorded_costs results config/costs.csv $(if $(MACHINE),--machine "$(MACHINE)")

check-sources: environment ## whether every address of what is downloaded still answers
	$(BIN)/python -m densevse sources

COMPILE := uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate

lock: ## requirements*.in -> requirements*.txt; needs uv
	$(COMPILE) requirements.in -o requirements.txt
	$(COMPILE) --constraint requirements.txt requirements-slurm.in -o requirements-slurm.txt
	$(BIN)/python -m tests.environments

clean: ## remove what the workflow made, but neither downloads nor the environment
	rm -rf results .snakemake
