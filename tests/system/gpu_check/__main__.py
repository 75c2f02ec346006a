"""`make gpu-check`: the rows of scenes on this machine's CPU and on its GPU, by the workflow, and what the GPU changes.

It has two folders of results, results/gpu_check/cpu and results/gpu_check/gpu, and goes on with what is there.
"""

import argparse
import json
import multiprocessing
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from benchmarks._machine import machine
from densevse.artifacts.files import write_text
from densevse.command.workflow import snakemake
from densevse.runtime.errors import InputError
from tests.system.gpu_check.card import card
from tests.system.gpu_check.comparing import compare_devices, document

FOLDER = Path("results/gpu_check")


def run(folder: Path, gpu: int, seeds: int, cores: str) -> None:
    """Make the table of scenes with that many seeds in a folder. Raises `CalledProcessError` if a job fails."""
    settings = {"results": str(folder), "gpu": gpu, "tables": {"scenes": {"seeds": list(range(seeds))}}}
    file = FOLDER / f"{folder.name}.json"
    write_text(json.dumps(settings), file)
    subprocess.run(snakemake([f"{folder}/tables/scenes.md"], [str(file)], "--cores", cores), check=True)


def main(seeds: int, cores: str, page: str) -> bool:
    """Run both, write the page, and say whether every row agrees."""
    # In a process of its own, as whoever looks at a card holds it until he ends.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as apart:
        name = apart.submit(card).result()
    folders = FOLDER / "cpu", FOLDER / "gpu"
    for number, folder in enumerate(folders):
        run(folder, number, seeds, cores)
    rows = compare_devices(*folders)
    write_text(document(rows, *folders, (machine(), name)).markdown(), page)
    print(Path(page).read_text(encoding="utf-8"))
    return all(row.agrees for row in rows)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=3, help="at least 2")
    parser.add_argument("--cores", default="all", help="as Snakemake takes it")
    parser.add_argument("--page", default="docs/tables/gpu_check.md", help="the page that is written")
    asked = parser.parse_args()
    if asked.seeds < 2:
        parser.error("--seeds: a spread needs two or more")
    try:
        sys.exit(0 if main(asked.seeds, asked.cores, asked.page) else 1)
    except InputError as error:
        sys.exit(f"gpu-check: {error}")
