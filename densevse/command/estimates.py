"""Estimates the cost of jobs from recorded ones: config/costs.csv, which names its machines."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from densevse.runtime.errors import InputError


class Cost(NamedTuple):
    """The recorded cost of a job of a stage on a data set; None for what is unknown."""

    stage: str
    dataset: str
    images: int | None  # images that the job worked on
    seconds: float  # seconds of a processor
    memory: float  # peak, in MB
    written: float | None  # bytes
    machine: str
    date: str


class Work(NamedTuple):
    """The jobs of a stage on a data set."""

    stage: str
    dataset: str
    jobs: int
    images: int | None  # images that a job works on


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of jobs, from the recorded costs of their stage that are the highest per image."""

    work: Work
    by: Cost
    written_by: Cost | None

    @property
    def scale(self) -> float:
        """The ratio of the number of images of one of these jobs to that of the recorded job."""
        return _scale(self.work, self.by)

    @property
    def hours(self) -> float:
        """Hours of one core."""
        return self.work.jobs * self.scale * self.by.seconds / 3600

    @property
    def written(self) -> float | None:
        """Bytes on disk; None if they were not recorded."""
        if self.written_by is None or self.written_by.written is None:
            return None
        return self.work.jobs * _scale(self.work, self.written_by) * self.written_by.written


def read_costs(file: str | Path) -> list[Cost]:
    """The recorded costs. Raises `InputError` that names an unreadable row."""
    with open(file, encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    found = []
    for number, row in enumerate(rows, 2):
        try:
            images, written = (float(row[name]) if row[name] else None for name in ("images", "bytes"))
            measured = float(row["seconds"]), float(row["memory"]), written
            whole = int(images) if images else None
            found.append(Cost(row["stage"], row["dataset"], whole, *measured, row["machine"], row["date"]))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"{file}, line {number}: {error}; record the costs again (`make record-costs`).") from None
    return found


def estimate(works: Iterable[Work], costs: Sequence[Cost]) -> Mapping[Work, Estimate | None]:
    """An estimate for each stage: from its costs on the same data set, or else on the most expensive one."""
    return {work: _estimate(work, [cost for cost in costs if cost.stage == work.stage]) for work in works}


def _estimate(work: Work, costs: Sequence[Cost]) -> Estimate | None:
    same = [cost for cost in costs if cost.dataset == work.dataset] or costs
    by = max(same, key=lambda cost: cost.seconds / (cost.images or 1), default=None)
    sized = [cost for cost in same if cost.written is not None] or [cost for cost in costs if cost.written is not None]
    return Estimate(work, by, max(sized, key=_bytes_of_an_image, default=None)) if by else None


def _bytes_of_an_image(cost: Cost) -> float:
    return (cost.written or 0) / (cost.images or 1)


def _scale(work: Work, by: Cost) -> float:
    return work.images / by.images if work.images and by.images else 1
