"""Dry runs of a table against that of a workflow with one rule: processor seconds of the whole process.

The target is missed for these reasons: in a sampled profile, the excess over one rule's dry run was .9 of that run. Two
thirds of the excess are Snakemake's own work on 98 rules and 119 jobs (.11 to parse rule files, .09 to find scripts,
.05 to import nbformat for the first script, .1 to compile and match patterns). The project's own part is .3; two fifths
of it are imports, mostly the building of pydantic's types.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks._timing import median_ratio

ONE_RULE = 'rule one:\n    output: "one.txt"\n    shell: "touch {output}"\n'


class Sizes(NamedTuple):
    """The table whose plan is timed, and how often."""

    target: str
    pairs: int


FULL = Sizes("results/tables/flickr30k.md", pairs=5)
TOY = Sizes("results/scenes/images.parquet", pairs=1)


def rows(sizes: Sizes = FULL) -> Iterator[tuple[str, str, float, str]]:
    """The name, the target, the measured ratio and a note of each comparison."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "Snakefile").write_text(ONE_RULE)
        ratio = median_ratio(lambda: planned(folder, "one.txt"), lambda: planned(".", sizes.target), sizes.pairs)
    yield f"snakemake -n {sizes.target} / of one rule", "<= 1.5", ratio, f"median of {sizes.pairs} pairs"


def planned(folder: str, target: str) -> float:
    """The processor seconds of a dry run in a folder."""
    before = os.times()
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--quiet", "--cores", "1", "--", target]
    subprocess.run(command, cwd=folder, check=True, capture_output=True)
    after = os.times()
    return after.children_user - before.children_user + after.children_system - before.children_system
