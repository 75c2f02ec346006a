"""`make gpu-check`: what this machine's GPU changes.

It runs the tests of devices on the GPU, makes the rows of scenes on the CPU and on the GPU by the workflow, and times
training steps at the papers' sizes on the GPU.

It has two folders of results, results/gpu_check/cpu and results/gpu_check/gpu, and goes on with what is there.
"""

import argparse
import json
import multiprocessing
import os
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

from benchmarks._machine import machine
from densevse.artifacts.files import write_text
from densevse.command.shared import snakemake
from densevse.runtime.errors import InputError
from tools.gpu_check.card import card
from tools.gpu_check.comparing import compare_devices, document
from tools.gpu_check.steps import STEP_NOTES, measure_steps, step_sheet

T = TypeVar("T")
ON_CARD = "densevse/analyses/*/tests/test_*_on_device.py"  # beside tests/device
FOLDER = Path("results/gpu_check")


def settings(folder: Path, gpu: int, seeds: int, together: int) -> dict[str, Any]:
    """The configuration of a run into a folder."""
    scenes = {"scenes": {"seeds": list(range(seeds))}}
    return {"results": str(folder), "gpu": gpu, "jobs_per_gpu": together, "datasets": scenes}


def run(folder: Path, gpu: int, seeds: int, cores: str, together: int) -> None:
    """Make the table of scenes with that many seeds in a folder. Raises `CalledProcessError` if a job fails."""
    file = FOLDER / f"{folder.name}.json"
    write_text(json.dumps(settings(folder, gpu, seeds, together)), file)
    options = "--cores", cores, "--resources", f"gpu={together}"
    subprocess.run(snakemake([f"{folder}/tables/scenes.md"], [str(file)], *options), check=True)


def tests_pass() -> bool:
    """Run the tests of devices on the card, and say whether they pass."""
    command = [sys.executable, "-m", "pytest", "-m", "not long", "tests/device", *map(str, Path().glob(ON_CARD))]
    return subprocess.run(command, env=os.environ | {"TESTED_GPU": "1"}).returncode == 0


def main(seeds: int, cores: str, together: int, page: str) -> bool:
    """Run the tests, both tables and the steps, write the page, and say whether tests pass and every row agrees."""
    # In processes of their own, as whoever computes on a card holds it until he ends.
    name = _apart(card)
    passed = tests_pass()
    folders = FOLDER / "cpu", FOLDER / "gpu"
    for number, folder in enumerate(folders):
        run(folder, number, seeds, cores, together)
    rows, steps = compare_devices(*folders), _apart(measure_steps)
    page_of = document(rows, *folders, (machine(), name), together)
    page_of.sheets.append(step_sheet(steps))
    page_of.notes.extend([*STEP_NOTES, f"On this card the tests of devices {'pass' if passed else 'fail'}."])
    write_text(page_of.markdown(), page)
    print(Path(page).read_text(encoding="utf-8"))
    return passed and all(row.agrees for row in rows)


def _apart(work: Callable[[], T]) -> T:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(work).result()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument("--cores", default="all", help="as Snakemake takes it")
    parser.add_argument("--together", type=int, default=1, help="jobs that share the card at a time")
    parser.add_argument("--page", default="docs/tables/gpu_check.md", help="the page that is written")
    asked = parser.parse_args()
    if asked.seeds < 2:
        parser.error("--seeds: a spread needs two or more")
    try:
        sys.exit(0 if main(asked.seeds, asked.cores, asked.together, asked.page) else 1)
    except InputError as error:
        sys.exit(f"gpu-check: {error}")
