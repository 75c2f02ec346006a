"""Compares two results folders of the same settings, one made on the CPU and one on a GPU: figures and times."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.command.comparison import Measurement, Retrievals, find_retrievals, paired_replicates
from densevse.report.costs import finished_jobs
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds
from snakeproof import schema
from snakeproof.errors import InputError

LIMIT = 0.95
SHORTEST = 5.0
"""Seconds of all jobs of a stage on the CPU, below which its speed-up would be that of starting Python."""
ROWS = ("Method", *("rsum, CPU", "rsum, GPU", "GPU - CPU", "seeds allow"), "Agrees", "Training, CPU", "GPU", "speed-up")
STAGES = ("Stage", "jobs", "CPU, s", "GPU, s", "speed-up")
WORDS = {"Method", "Stage", "Agrees"}


@dataclass(frozen=True)
class DeviceRow:
    """The rsum and the times of a method on the CPU and on the GPU."""

    of: Measurement
    seeds: list[int]
    cpu: pd.Series  # its rsum with each seed
    gpu: pd.Series
    seconds: tuple[float, float]  # of training, all seeds and rounds, on the CPU and on the GPU

    @property
    def difference(self) -> float:
        """The mean rsum on the GPU less that on the CPU."""
        return float(self.gpu.mean() - self.cpu.mean())

    @property
    def allowed_difference(self) -> float:
        """The bound on the difference of two means over n seeds of one method, in 95 of 100 cases: t s sqrt(2 / n).

        s is the standard deviation over seeds, of both devices together; t is Student's with 2n - 2 degrees of freedom.
        """
        deviation = np.sqrt((self.cpu.var(ddof=1) + self.gpu.var(ddof=1)) / 2)
        return float(stdtrit(2 * len(self.seeds) - 2, (1 + LIMIT) / 2) * deviation * np.sqrt(2 / len(self.seeds)))

    @property
    def agrees(self) -> bool:
        """True if seeds alone can explain the difference."""
        return abs(self.difference) <= self.allowed_difference


def compare_devices(cpu: Path, gpu: Path) -> list[DeviceRow]:
    """The methods of two results folders.

    Raises `InputError` where one lacks a method or a seed that the other has, has fewer than two seeds, or was not
    computed on the device that it is said to be of.
    """
    first, second = find_retrievals(cpu), find_retrievals(gpu)
    missing = first.keys() ^ second.keys()
    if missing:
        raise InputError(f"{cpu} and {gpu} must hold the same methods; in one alone: {'; '.join(map(str, missing))}.")
    return [_row(first[key], second[key]) for key in first]


def _row(cpu: Retrievals, gpu: Retrievals) -> DeviceRow:
    seeds = sorted(cpu.files)
    if seeds != sorted(gpu.files) or len(seeds) < 2:
        raise InputError(
            f"{cpu.of}: {named_seeds(seeds)} on the CPU and {named_seeds(sorted(gpu.files))} on the GPU; a spread "
            "needs the same two or more of both."
        )
    for side, wanted in ((cpu, True), (gpu, False)):
        for file in side.files.values():
            made = schema.check(file, RETRIEVAL).found
            if {made["device"] == "cpu", made["trained_on"] == "cpu"} != {wanted}:
                raise InputError(
                    f"{file}: was trained on {made['trained_on']} and ranked on {made['device']}, and stands for the "
                    f"{'CPU' if wanted else 'GPU'}. Delete the folder of results and run the check again."
                )
    _, (ours, theirs) = paired_replicates(cpu, gpu)
    return DeviceRow(
        cpu.of, seeds, ours.by_seed["rsum"], theirs.by_seed["rsum"], (_training_seconds(cpu), _training_seconds(gpu))
    )


def _training_seconds(side: Retrievals) -> float:
    """Seconds of all epochs of a method's seeds and rounds, by the histories of its models."""
    folders = [side.folder / "models" / side.of.variant / f"seed{seed}" for seed in side.files]
    return sum(float(pd.read_parquet(file)["seconds"].sum()) for of in folders for file in of.glob("*/history.parquet"))


def document(rows: list[DeviceRow], cpu: Path, gpu: Path, machines: tuple[str, str], together: int = 1) -> Document:
    """The page of results; `machines` names the processor and the card, which `together` jobs shared."""
    sheets = [_sheet("Rows", ROWS, list(map(_cells, rows))), _sheet("Stages", STAGES, list(_stages(cpu, gpu)))]
    outside = [str(row.of) for row in rows if not row.agrees]
    found = f"outside what seeds allow: {'; '.join(outside)}" if outside else "within what seeds allow: every row"
    shared = f" {together} jobs shared the card, so the GPU's times are those of busy jobs." if together > 1 else ""
    return Document(
        f"GPU check: {machines[1]}",
        sheets,
        [
            f"Compared with: {machines[0]}.{shared}",
            f"{len(rows)} rows with {named_seeds(rows[0].seeds)}; {found}.",
            "Seeds allow t s sqrt(2 / n) of a difference between two means over n seeds, with the deviation s of both "
            "devices and Student's t of 95%: one row in twenty lies outside by chance.",
            "Training is the seconds of all epochs with their validation, of all seeds and rounds; the CPU's jobs have "
            f"as many threads as `threads` says. Stages that took less than {SHORTEST:.0f} s are left out.",
        ],
    )


def _cells(row: DeviceRow) -> list[str]:
    sums = [f"{row.cpu.mean():.1f}", f"{row.gpu.mean():.1f}", f"{row.difference:+.1f}", f"{row.allowed_difference:.1f}"]
    agrees = "yes" if row.agrees else "no"
    return [row.of.variant, *sums, agrees, *(f"{seconds:.0f} s" for seconds in row.seconds), _speed_up(*row.seconds)]


def _stages(cpu: Path, gpu: Path) -> Iterator[list[str]]:
    totals = [finished_jobs(folder).groupby("stage")["seconds"].agg(["size", "sum"]) for folder in (cpu, gpu)]
    both = totals[0].join(totals[1]["sum"].rename("gpu"), how="inner")
    for stage, jobs, first, second in both[both["sum"] >= SHORTEST].itertuples():
        yield [str(stage), str(jobs), f"{first:.0f}", f"{second:.0f}", _speed_up(first, second)]


def _speed_up(cpu: float, gpu: float) -> str:
    return f"{cpu / gpu:.1f}" if gpu else ""


def _sheet(heading: str, headers: tuple[str, ...], rows: list[list[str]]) -> Sheet:
    return Sheet(heading, tuple(TableColumn(header, number=header not in WORDS) for header in headers), rows)
