"""The whole check of a card: steps, the tests of devices, and the rows of scenes on the CPU and on the card.

It has two folders of results, results/gpu_check/cpu and results/gpu_check/gpu, and goes on with what is there.
"""

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
from densevse.command.shared import snakemake_command
from snakeproof.files import write_text
from tools.gpu_check.card import use_card
from tools.gpu_check.comparing import compare_devices, document
from tools.gpu_check.steps import STEP_NOTES, Step, StepPlan, print_steps, step_sheet

T = TypeVar("T")
ON_CARD = "densevse/analyses/*/tests/test_*_on_device.py"  # beside tests/device
FOLDER = Path("results/gpu_check")


def settings(folder: Path, gpu: int, seeds: int, together: int) -> dict[str, Any]:
    """The configuration of a run into a folder."""
    scenes = {"scenes": {"seeds": list(range(seeds))}}
    return {"results": str(folder), "gpu": gpu, "jobs_per_gpu": together, "datasets": scenes}


def make_scenes_table(folder: Path, gpu: int, seeds: int, cores: str, together: int) -> None:
    """Make the table of scenes with that many seeds in a folder. Raises `CalledProcessError` if a job fails."""
    file = FOLDER / f"{folder.name}.json"
    write_text(json.dumps(settings(folder, gpu, seeds, together)), file)
    options = "--cores", cores, "--resources", f"gpu={together}"
    subprocess.run(snakemake_command([f"{folder}/tables/scenes.md"], [str(file)], *options), check=True)


def run_device_tests() -> bool:
    """Run the tests of devices on the card, and say whether they pass."""
    command = [sys.executable, "-m", "pytest", "-m", "not long", "tests/device", *map(str, Path().glob(ON_CARD))]
    return subprocess.run(command, env=os.environ | {"TESTED_GPU": "1"}).returncode == 0


def check_card(seeds: int, cores: str, together: int, page: Path) -> bool:
    """Times steps, runs the tests and makes both tables; writes the page, and says whether tests pass and rows agree.

    While it runs, the page has the steps alone.
    """
    # In a process of its own, as whoever computes on a card holds it until he ends.
    name, steps = _run_in_process(_steps_on_card, page)
    passed = run_device_tests()
    folders = FOLDER / "cpu", FOLDER / "gpu"
    for number, folder in enumerate(folders):
        make_scenes_table(folder, number, seeds, cores, together)
    rows = compare_devices(*folders)
    page_of = document(rows, *folders, (machine(), name), together)
    page_of.sheets.append(step_sheet(steps))
    page_of.notes.extend([*STEP_NOTES, f"On this card the tests of devices {'pass' if passed else 'fail'}."])
    write_text(page_of.markdown(), page)
    print(page.read_text(encoding="utf-8"))
    return passed and all(row.agrees for row in rows)


def _steps_on_card(page: Path) -> tuple[str, list[Step]]:
    name = use_card()
    return name, print_steps(name, StepPlan(), page)


def _run_in_process(work: Callable[[Path], T], page: Path) -> T:
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        return apart.submit(work, page).result()
