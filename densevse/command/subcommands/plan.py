"""`densevse plan`: prints what a run would do, download and cost.

Times follow from the arithmetic of networks and methods (densevse/command/costs) or else, as memory and disk do, from
recorded costs (config/costs.csv).
"""

import csv
import os
import shutil
import textwrap
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from densevse.command.costs.rates import NOT_MEASURED, Rates, known_rates, processor, today
from densevse.command.shared import (
    ROOT,
    PlannedJob,
    add_configfiles,
    align_columns,
    checked_project,
    overrides,
    planned_jobs,
)
from snakeproof.errors import InputError


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
    seconds: float | None = None  # of one core for all jobs, by their arithmetic; None if that is not known
    again: int = 0  # jobs whose files are there, and are replaced


@dataclass(frozen=True)
class Estimate:
    """The estimated cost of jobs: their arithmetic, and the recorded costs of their stage, the highest per image."""

    work: Work
    by: Cost | None
    written_by: Cost | None

    @property
    def scale(self) -> float:
        """The ratio of the number of images of one of these jobs to that of the recorded job."""
        return _scale(self.work, self.by) if self.by else 1

    @property
    def seconds(self) -> float:
        """Seconds of one core; of a recorded job, all but its start grows with the number of images."""
        if self.work.seconds is not None or self.by is None:
            return self.work.seconds or 0
        start = min(STARTED, self.by.seconds)
        return self.work.jobs * (start + self.scale * (self.by.seconds - start))

    @property
    def memory(self) -> float:
        """The peak of a job in MB; 0 if it was not recorded."""
        return self.by.memory if self.by else 0

    @property
    def disk_bytes(self) -> float | None:
        """Bytes on disk; None if they were not recorded."""
        if self.written_by is None or self.written_by.written is None:
            return None
        return self.work.jobs * _scale(self.work, self.written_by) * self.written_by.written


STARTED = 0.6
"""The seconds in which a job without torch starts."""


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
    if by is None and work.seconds is None:
        return None
    return Estimate(work, by, max(sized, key=lambda cost: (cost.written or 0) / (cost.images or 1), default=None))


def _scale(work: Work, by: Cost) -> float:
    return work.images / by.images if work.images and by.images else 1


HELP = "print the jobs of targets, files to obtain by hand, and an estimate of time, memory and disk"
FETCHING = ("download", "download_from_hub", "obtain_by_hand", "get_corenlp", "get_hed", "get_spice")
"""The rules that obtain files from elsewhere."""
COSTS = ROOT / "config/costs.csv"


def add_arguments(parser: ArgumentParser) -> None:
    """Adds the targets."""
    parser.add_argument(
        "targets", nargs="*", metavar="target", help="files or rules, such as results/tables/flickr30k.md"
    )
    add_configfiles(parser)
    parser.add_argument(
        "--instead", metavar="FILE", help="print the difference that another file over the configuration makes"
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="first measure, in less than a minute, how fast this machine is; later plans use that too",
    )


def run(arguments: Namespace) -> int:
    """Prints the plan. Raises `InputError` if there is neither a target nor something to measure."""
    if not arguments.targets and (arguments.instead or not arguments.measure):
        raise InputError("name a target, such as results/tables/scenes.md; `densevse list tables` prints the tables.")
    rates = _measure_machine() if arguments.measure else known_rates()
    if arguments.instead:
        print(_differences(arguments, rates))
        return 0
    return _print_plan(arguments, rates) if arguments.targets else 0


def _measure_machine() -> Rates:
    """Measures the rates of this machine, keeps and prints them."""
    from densevse.command.costs.measuring import measure_rates

    rates = measure_rates()
    file = rates.keep()
    rows = [(kind, f"{rate:.3g}", "estimate" if kind in NOT_MEASURED else "") for kind, rate in rates.by_kind.items()]
    table = align_columns(rows, cut=2, indent=2, right=(1,))
    print(f"Work in a second of one core of this machine, kept in {file}:\n{table}\n")
    return rates


class Plan(NamedTuple):
    """The jobs of targets, and what they cost."""

    jobs: Sequence[PlannedJob]
    estimates: Mapping[Work, Estimate | None]
    project: Any
    unknown_methods: Iterable[str]  # those without arithmetic
    assumed: Mapping[Any, int]  # data sets of unknown size -> the images that were assumed

    @property
    def seconds(self) -> float:
        """Seconds of one core."""
        return sum(found.seconds for found in self.estimates.values() if found)


def _plan(targets: Sequence[str], configfiles: Sequence[str], rates: Rates) -> Plan:
    from densevse.command.costs.jobs import Arithmetic
    from densevse.datasets.own_files import check_first_lines

    project = checked_project(targets, configfiles)
    jobs = planned_jobs(targets, configfiles, project.config.results)
    check_first_lines(project.config.datasets, {job.wildcards.get("dataset") for job in jobs})
    arithmetic = Arithmetic(project, {path for job in jobs for path in job.output})
    made = [job for job in jobs if job.rule not in FETCHING]
    planned = works(made, arithmetic.count_images, lambda job: rates.seconds(arithmetic.job_work(job)))
    costs = estimate(planned, read_costs(COSTS))
    return Plan(jobs, costs, project, arithmetic.unknown_methods, arithmetic.known.assumed)


def _print_plan(arguments: Namespace, rates: Rates) -> int:
    from densevse.dag.downloads import sources_by_path

    plan = _plan(arguments.targets, arguments.configfile, rates)
    if not plan.jobs:
        print("Nothing to do: all files exist and are up to date.")
        return 0
    config = plan.project.config
    sources = {f"{config.resources}/{file}": source for file, source in sources_by_path(config).items()}
    fetched = [path for job in plan.jobs if job.rule in FETCHING for path in job.output]
    notes = [_assumed_sizes(plan.assumed), _unknown_methods(plan.unknown_methods), *_missing_programs(plan)]
    parts = [_table(plan.estimates), "\n".join(filter(None, notes))]
    parts += [_downloads(fetched, sources), _manual_files(fetched, sources)]
    print("\n\n".join(filter(None, [*parts, _total(len(plan.jobs), plan.estimates, rates)])))
    return 0


def _differences(arguments: Namespace, rates: Rates) -> str:
    """The time of each stage that another file over the configuration changes, and of all, before and after."""
    overrides([arguments.instead], "--instead")  # raises errors that name the option
    files = [arguments.configfile, [*arguments.configfile, arguments.instead]]
    plans = [_plan(arguments.targets, some, rates) for some in files]
    per_unit, unit = _time_unit(max(plans, key=lambda plan: plan.seconds).estimates)
    stages = [_seconds_of_stages(plan.estimates) for plan in plans]
    rows = []
    for stage in sorted(stages[0].keys() | stages[1].keys()):
        before, after = (f"{seconds.get(stage, 0.0) / per_unit:.2f}" for seconds in stages)
        if before != after:
            rows.append([*stage, before, after, f"{float(after) - float(before):+.2f}"])
    head = [("stage", "data set", f"core {unit}", "instead", "difference")]
    table = align_columns([*head, *rows], cut=0, right=(2, 3, 4)) if rows else "No stage takes another time."
    before, after = (f"{plan.seconds / per_unit:.1f}" for plan in plans)
    total = f"About {after} core {unit} with {arguments.instead} instead of {before}. {_describe_rates(rates)}"
    return f"{table}\n\n{textwrap.fill(f'{total} {NO_NUMBERS}', 120)}"


NO_NUMBERS = "What a file changes in the numbers of a table is not in a plan; the file's comments should say it."


def _seconds_of_stages(estimates: Mapping[Work, Estimate | None]) -> Mapping[tuple[str, str], float]:
    """(stage, data set) -> seconds of one core; a stage that was never recorded has none."""
    found: dict[tuple[str, str], float] = {}
    for work, one in estimates.items():
        stage = work.stage, work.dataset or "-"
        found[stage] = found.get(stage, 0.0) + (one.seconds if one else 0.0)
    return found


def _unknown_methods(names: Iterable[str]) -> str:
    """A sentence about the methods whose jobs have no arithmetic."""
    if not (named := ", ".join(sorted(names))):
        return ""
    said = f"The cost of {named} is not known, as the parameters have no function `cost` (docs/methods.md)."
    return textwrap.fill(f"{said} Recorded jobs of other methods stand for theirs.", 120)


def _assumed_sizes(assumed: Mapping[Any, int]) -> str:
    """A sentence for each data set whose size nothing says."""
    return "\n".join(
        f"{name}: {images:,} images assumed; set about_images of datasets.{name}." for name, images in assumed.items()
    )


def _missing_programs(plan: Plan) -> Iterator[str]:
    """A sentence for Java and one for GPUs, if jobs need them and this machine lacks them."""
    config, asked = plan.project.config, plan.project.config.gpus
    parsers = {config.parsers[job.wildcards["parser"]].kind for job in plan.jobs if "parser" in job.wildcards}
    if "corenlp" in parsers and shutil.which("java") is None:
        yield "There is no `java` on the PATH, and CoreNLP, which parses the sentences, needs it (docs/install.md)."
    if asked and asked > (there := _count_cards()):
        yield f"gpu: {asked} is requested, and this machine shows {there}: its jobs stop here, unless gpu is 0."


def _count_cards() -> int:
    import torch

    return torch.cuda.device_count()


def works(
    jobs: Sequence[PlannedJob],
    images: Callable[[PlannedJob], int | None],
    seconds: Callable[[PlannedJob], float | None],
) -> list[Work]:
    """The jobs by stage and data set, in the order of both; of a job, `images` and `seconds` give what is known."""
    found: dict[tuple[Any, ...], Work] = {}
    for job in jobs:
        own, dataset, seen = seconds(job), job.wildcards.get("dataset", ""), images(job)
        key = (job.stage, dataset, seen, own is None)
        before = found.get(key, Work(job.stage, dataset, 0, seen, None if own is None else 0.0))
        total = None if own is None or before.seconds is None else before.seconds + own
        again = before.again + any(Path(path).exists() for path in job.output)
        found[key] = before._replace(jobs=before.jobs + 1, seconds=total, again=again)
    return sorted(found.values(), key=lambda work: work[:3])


def _table(estimates: Mapping[Work, Estimate | None]) -> str:
    per_unit, unit = _time_unit(estimates)
    head = ("stage", "data set", "jobs", f"core {unit}", "memory, GB", "disk, GB", "time estimated by")
    rows = [head, *(_row(work, found, per_unit) for work, found in estimates.items())]
    if not any(work.again for work in estimates):
        return align_columns(rows, cut=6, right=(2, 3, 4, 5)) if estimates else ""
    again = ["again", *(str(work.again or "") for work in estimates)]
    rows = [(*row[:3], number, *row[3:]) for row, number in zip(rows, again, strict=True)]
    table = align_columns(rows, cut=7, right=(2, 3, 4, 5, 6))
    return f"{table}\nagain: jobs whose files are there already, and are replaced."


def _time_unit(estimates: Mapping[Work, Estimate | None]) -> tuple[int, str]:
    """The unit of the plan's times, in seconds, and its name: minutes up to two hours of one core."""
    total = sum(found.seconds for found in estimates.values() if found)
    return (60, "minutes") if total < 2 * 3600 else (3600, "hours")


def _row(work: Work, found: Estimate | None, per_unit: int) -> tuple[str, ...]:
    named = (work.stage, work.dataset or "-", str(work.jobs))
    if found is None:
        return (*named, "?", "?", "?", "never recorded")
    disk = "?" if found.disk_bytes is None else _gigabytes(found.disk_bytes)
    spent = found.seconds / per_unit
    memory = f"{found.memory / 1000:.1f}" if found.by else "?"
    return (*named, f"{spent:.2f}" if spent >= 0.01 else "<0.01", memory, disk, _reason(found))


def _reason(found: Estimate) -> str:
    """The basis of an estimate of time."""
    if found.work.seconds is not None or found.by is None:
        return "arithmetic"
    return found.by.dataset + (f", times {found.scale:.3g}" if found.scale != 1 else "")


def _gigabytes(size: float) -> str:
    return "<0.01" if 0 < size < 1e7 else f"{size / 1e9:.2f}"


def _downloads(paths: Sequence[str], sources: Mapping[str, Any]) -> str:
    found = {path: sources.get(path) for path in sorted(paths) if not (path in sources and sources[path].manual)}
    sizes = {path: source.size for path, source in found.items() if source and source.size}
    rows = [[path, _gigabytes(sizes[path]) if path in sizes else "?"] for path in found]
    unknown = len(sizes) < len(found)
    total = f", {'at least ' if unknown else ''}{_gigabytes(sum(sizes.values()))} GB" if sizes else ""
    head = f"To download{total}{' (? where no size is published)' if unknown else ''}:"
    return f"{head}\n{align_columns(rows, cut=0, indent=2, right=(1,))}" if rows else ""


def _manual_files(paths: Sequence[str], sources: Mapping[str, Any]) -> str:
    found = {path: sources[path].manual for path in sorted(paths) if path in sources and sources[path].manual}
    wrapped = textwrap.TextWrapper(116, initial_indent=" " * 4, subsequent_indent=" " * 4)
    lines = [f"  {path}\n{wrapped.fill(manual)}" for path, manual in found.items()]
    return "\n".join(["To obtain by hand:", *lines]) if found else ""


def _total(jobs: int, estimates: Mapping[Work, Estimate | None], rates: Rates) -> str:
    found = [one for one in estimates.values() if one]
    seconds, disk = sum(one.seconds for one in found), sum(one.disk_bytes or 0 for one in found)
    memory, (per_unit, unit) = max((one.memory for one in found), default=0), _time_unit(estimates)
    machines = sorted({f"{one.by.machine}, {one.by.date}" for one in found if one.by})
    total = (
        f"{jobs} jobs, about {seconds / per_unit:.1f} {unit} of {_core(rates)}{_days(seconds)}, {memory / 1000:.1f} GB "
        f"of memory for the largest job and {_gigabytes(disk)} GB of results. These are estimates. "
        f"{_describe_rates(rates)} Other times, memory and disk were recorded on {' and '.join(machines)}, and are "
        "scaled by the number of images. "
        "Stages that were never recorded add nothing."
    )
    return textwrap.fill(total, 120)


def _days(seconds: float) -> str:
    """The days on the cores of this machine, of a plan that takes one or more."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    days = seconds / cores / 86_400
    if days < 1:
        return ""
    return f" (about {days:.1f} days on {cores} cores of this kind, as many as here; not measured on a GPU)"


def _describe_rates(rates: Rates) -> str:
    """A sentence that says where the rates of the arithmetic come from, and how old they are."""
    if rates.measured is None:
        return f"Times by arithmetic are for {_core(rates)}; `densevse plan --measure` measures this machine."
    days = (today() - rates.measured).days
    age = {0: "today", 1: "yesterday"}.get(days, f"{days} days ago")
    others = ", ".join(kind.replace("parsed", "parsing") for kind in NOT_MEASURED)
    return f"Times by arithmetic are for {_core(rates)}, measured {age}, except for {others}."


def _core(rates: Rates) -> str:
    """The kind of core that a time is of."""
    return (
        "one core of an AMD EPYC with AVX2" if rates.measured is None else f"one core of this machine ({processor()})"
    )
