"""`make gpu-check`: what this machine's GPU changes.

It times training steps at the papers' sizes on the GPU, runs the tests of devices there, and makes the rows of scenes
on the CPU and on the GPU by the workflow. `--steps` does the first alone: it needs neither Snakemake nor Java.
"""

import argparse
import sys
from pathlib import Path

from snakeproof.errors import InputError
from tools.gpu_check.card import use_card, use_processor
from tools.gpu_check.steps import METHODS, StepPlan, print_steps

PAGES = {True: "results/gpu_check/steps.md", False: "docs/tables/gpu_check.md"}
"""The page that is written, with `--steps` and without."""


def parse() -> argparse.Namespace:
    """The command's options; ends the process if they make no sense."""
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__)
    parser.add_argument("--steps", action="store_true", help="time steps, and do nothing else")
    parser.add_argument("--device", choices=("card", "cpu"), default="card", help="with --steps: cpu is a rehearsal")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=METHODS, help="with --steps")
    parser.add_argument("--size", type=int, help="with --steps: sentences of a batch and values of a vector")
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument("--cores", default="all", help="as Snakemake takes it")
    parser.add_argument("--together", type=int, default=1, help="jobs that share the card at a time")
    parser.add_argument("--page", help="the page that is written")
    asked = parser.parse_args()
    if asked.seeds < 2:
        parser.error("--seeds: a spread needs two or more")
    if not asked.steps and (asked.device == "cpu" or asked.size):
        parser.error("--device and --size belong to --steps")
    return asked


def main(asked: argparse.Namespace) -> bool:
    """Do what was asked, and say whether all of it passed."""
    page = Path(asked.page or PAGES[asked.steps])
    if asked.steps:
        name = use_card() if asked.device == "card" else use_processor()
        plan = StepPlan.rehearsal(asked.methods, asked.size) if asked.size else StepPlan(methods=asked.methods)
        print_steps(name, plan, page)
        return True
    from tools.gpu_check.whole import check_card  # it needs Snakemake

    return check_card(asked.seeds, asked.cores, asked.together, page)


if __name__ == "__main__":
    try:
        sys.exit(0 if main(parse()) else 1)
    except InputError as error:
        sys.exit(f"gpu-check: {error}")
