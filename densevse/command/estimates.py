"""Estimates of what jobs will cost, from what others did: config/costs.csv, which names its machines."""

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from densevse.runtime.errors import InputError


class Cost(NamedTuple):
    """What a job of a stage on a data set cost, as it was recorded; None where that is not known."""

    stage: str
    dataset: str
    images: int | None  # that the job worked on
    seconds: float  # of a processor
    memory: float  # MB at most
    written: float | None  # bytes
    machine: str
    date: str


class Work(NamedTuple):
    """Jobs of a stage on a data set."""

    stage: str
    dataset: str
    jobs: int
    images: int | None  # that a job works on


@dataclass(frozen=True)
class Estimate:
    """What some work will cost, by the recorded costs of its stage that are the dearest for an image."""

    work: Work
    by: Cost
    written_by: Cost | None

    @property
    def scale(self) -> float:
        """How many times the images of the recorded job one of these works on."""
        return _scale(self.work, self.by)

    @property
    def hours(self) -> float:
        """Hours of one core."""
        return self.work.jobs * self.scale * self.by.seconds / 3600

    @property
    def written(self) -> float | None:
        """Bytes on disk; None where nobody recorded them."""
        if self.written_by is None or self.written_by.written is None:
            return None
        return self.work.jobs * _scale(self.work, self.written_by) * self.written_by.written


def read_costs(file: str | Path) -> list[Cost]:
    """The recorded costs. Raises `InputError` naming a row that cannot be read."""
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
    """An estimate for each work: by its stage on the same data set, or else on the dearest one."""
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
