"""`densevse plan`: prints what a run would do, download and cost, from recorded costs (config/costs.csv)."""

import csv
import textwrap
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from densevse.command.shared import ROOT, PlannedJob, add_configfiles, aligned, configuration, overrides, planned_jobs
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


HELP = "print the jobs of targets, files to obtain by hand, and an estimate of time, memory and disk"
FETCHING = ("download", "download_from_hub", "obtain_by_hand", "get_corenlp", "get_hed", "get_spice")
"""The rules that obtain files from elsewhere."""
COSTS = ROOT / "config/costs.csv"
_HEAD = ("stage", "data set", "jobs", "core hours", "memory, GB", "disk, GB", "estimated by")


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the targets."""
    parser.add_argument(
        "targets", nargs="+", metavar="target", help="files or rules, such as results/tables/flickr30k.md"
    )
    add_configfiles(parser)


def run(arguments: Namespace) -> int:
    """Prints the plan."""
    over = overrides(arguments.configfile)
    config = configuration(over)
    jobs = planned_jobs(arguments.targets, arguments.configfile, config.results)
    if not jobs:
        print("Nothing to do: all files exist and are up to date.")
        return 0
    sources = _sources(config)
    made = [job for job in jobs if job.rule not in FETCHING]
    estimates = estimate(works(made, config), read_costs(COSTS))
    fetched = [path for job in jobs if job.rule in FETCHING for path in job.output]
    parts = [_table(estimates), _downloads(fetched, sources), _by_hand(fetched, sources)]
    print("\n\n".join(filter(None, [*parts, _total(len(jobs), estimates)])))
    return 0


def works(jobs: Sequence[PlannedJob], config: Any) -> list[Work]:
    """The jobs by stage and data set, in the order of both."""
    counts = Counter((job.stage, job.wildcards.get("dataset", ""), _images(job, config)) for job in jobs)
    return sorted(
        (Work(stage, dataset, jobs, images) for (stage, dataset, images), jobs in counts.items()),
        key=lambda work: work[:3],
    )


def _images(job: PlannedJob, config: Any) -> int | None:
    """The number of images of a job, if it is known before the job runs."""
    dataset = config.datasets.get(job.wildcards.get("dataset", ""))
    if dataset is None:
        return None
    shards = dataset.shards if "shard" in job.wildcards else 1
    images = _number_of_images(f"{config.results}/{job.wildcards['dataset']}/images.parquet", dataset.about_images)
    return None if images is None else round(images / shards)


def _number_of_images(table: str, about: int | None) -> int | None:
    if not Path(table).is_file():
        return about
    from pyarrow.parquet import read_metadata

    return int(read_metadata(table).num_rows)


def _sources(config: Any) -> Mapping[str, Any]:
    """The files that come from elsewhere, by their paths."""
    from densevse.dag.datasets import sources_of

    return {f"{config.resources}/{file}": source for file, source in sources_of(config).items()}


def _table(estimates: Mapping[Work, Estimate | None]) -> str:
    rows = [_HEAD, *(_row(work, found) for work, found in estimates.items())]
    return aligned(rows, cut=6, right=(2, 3, 4, 5)) if estimates else ""


def _row(work: Work, found: Estimate | None) -> tuple[str, ...]:
    named = (work.stage, work.dataset or "-", str(work.jobs))
    if found is None:
        return (*named, "?", "?", "?", "never recorded")
    scaled = f", times {found.scale:.3g}" if found.scale != 1 else ""
    disk = "?" if found.written is None else _gigabytes(found.written)
    hours = f"{found.hours:.2f}" if found.hours >= 0.01 else "<0.01"
    return (*named, hours, f"{found.by.memory / 1000:.1f}", disk, f"{found.by.dataset}{scaled}")


def _gigabytes(size: float) -> str:
    return "<0.01" if 0 < size < 1e7 else f"{size / 1e9:.2f}"


def _downloads(paths: Sequence[str], sources: Mapping[str, Any]) -> str:
    found = {path: sources.get(path) for path in sorted(paths) if not (path in sources and sources[path].manual)}
    sizes = {path: source.size for path, source in found.items() if source and source.size}
    rows = [[path, _gigabytes(sizes[path]) if path in sizes else "?"] for path in found]
    head = f"To download, at least {_gigabytes(sum(sizes.values()))} GB (? where no size is published):"
    return f"{head}\n{aligned(rows, cut=0, indent=2, right=(1,))}" if rows else ""


def _by_hand(paths: Sequence[str], sources: Mapping[str, Any]) -> str:
    found = {path: sources[path].manual for path in sorted(paths) if path in sources and sources[path].manual}
    wrapped = textwrap.TextWrapper(116, initial_indent=" " * 4, subsequent_indent=" " * 4)
    lines = [f"  {path}\n{wrapped.fill(manual)}" for path, manual in found.items()]
    return "\n".join(["To obtain by hand:", *lines]) if found else ""


def _total(jobs: int, estimates: Mapping[Work, Estimate | None]) -> str:
    found = [one for one in estimates.values() if one]
    hours, disk = sum(one.hours for one in found), sum(one.written or 0 for one in found)
    memory = max((one.by.memory for one in found), default=0)
    machines = sorted({f"{one.by.machine}, {one.by.date}" for one in found})
    total = (
        f"{jobs} jobs, about {hours:.1f} core hours, {memory / 1000:.1f} GB of memory for the largest job and "
        f"{_gigabytes(disk)} GB of results. This is an estimate: costs were recorded on {' and '.join(machines)}. "
        "They are scaled by the number of images, but not by the networks that read them; stages that were never "
        "recorded add nothing."
    )
    return textwrap.fill(total, 120)
