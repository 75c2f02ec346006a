"""Runs a job of either rule. Snakemake defines `snakemake`, and finds `counting` beside this file."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))  # where snakeproof is, if it is not installed

from snakeproof.runner import run

run(snakemake)
