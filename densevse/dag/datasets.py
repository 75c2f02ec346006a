"""Image tables, caption tables and true boxes in the plan."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from densevse.config.datasets import Dataset
from densevse.config.readers import READERS
from densevse.config.values import DatasetName, VariantName
from densevse.dag.fields import READING, RESPLIT, dump_entry, dump_fields
from densevse.dag.project import Project
from densevse.report.plan import PicturePlan
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values

UNKNOWN_SIZE = 31_014
"""The images of a data set that does not say how many it has: those of Flickr30k."""


def memory(project: Project, least: int, per_thousand: int) -> Callable[[DatasetName], int]:
    """A function that says the MB of a job which holds a data set: `least`, and more for each thousand images."""

    def dataset_memory(dataset: DatasetName) -> int:
        entry = project.datasets[dataset]
        images = entry.about_images or sum((entry.stated_splits or {}).values()) or UNKNOWN_SIZE
        return least + per_thousand * images // 1000

    return dataset_memory


def sources(project: Project, dataset: DatasetName) -> list[str | Values]:
    """The files from which a data set is read: the user's own, or names below resources/<data set>/."""
    entry, owner = project.datasets[dataset], project.image_dataset(dataset)
    return [
        entry.local.get(name) or {"dataset": owner, "file": entry.sources[name].file}
        for name in project.source_names(dataset)
    ]


def pictures(project: Project, dataset: DatasetName) -> list[str | Values]:
    """The same files for rules that need pictures. Raises `InputError` for a data set without any."""
    check_pictures(project, dataset)
    return sources(project, dataset)


def check_pictures(project: Project, dataset: DatasetName) -> None:
    """Raises `InputError` for a data set without pictures."""
    if not project.datasets[dataset].has_pictures:
        raise InputError(
            f"datasets.{dataset}: the reader {project.datasets[dataset].reader} reads features and no pictures, which "
            "this target needs; use another data set."
        )


def figure_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The drawing of a variant's figure, from the data set's sources."""
    return Job({"source_names": project.source_names(dataset), "title": project.title_of_variant(dataset, variant)})


def picture_job(project: Project, dataset: DatasetName, title: str, shown: dict[str, Any]) -> Job:
    """The drawing of several artifacts of a data set: title -> `Identity`."""
    plan = PicturePlan(title=title, shown=shown).model_dump(mode="json")
    return Job({"source_names": project.source_names(dataset), "plan": plan})


def sources_by_name(project: Project, dataset: DatasetName) -> dict[str, str]:
    """Source -> its file."""
    entry = project.datasets[dataset]
    return {
        name: project.source_file(project.image_dataset(dataset), entry.sources.get(name), entry.local.get(name))
        for name in project.source_names(dataset)
    }


def reading(project: Project, dataset: DatasetName) -> dict[str, Any]:
    """The settings of a data set that its reader uses."""
    entry = project.datasets[dataset]
    return {
        **dump_fields(entry, READING),
        "options": {name: value for name, value in dump_entry(entry.options).items() if value is not None},
    }


def reading_job(project: Project, dataset: DatasetName) -> Job:
    """The reading of a data set's files, with its reader, which is imported by name."""
    sides = project.datasets[dataset].sides
    used = reading(project, dataset) | ({"sides": list(sides)} if sides else {})
    settings = {"reading": used, "source_names": project.source_names(dataset)}
    return Job(settings, [READERS[project.datasets[dataset].reader].IMPLEMENTATION])


def resplit_job(project: Project, dataset: DatasetName) -> Job:
    """The draw of a resplit: its seed, the number of images of each split, and where settings were chosen, if set."""
    resplit = project.datasets[dataset].resplit
    fields = dump_fields(resplit, RESPLIT) if resplit else {}
    return Job({"draw": {name: value for name, value in fields.items() if value is not None}})


class Resplits(NamedTuple):
    """Resplits of one data set that have the same sizes."""

    of: DatasetName  # the data set that they divide
    names: list[DatasetName]
    train: int  # images of each one's split train
    test: int


def group_resplits(names: Iterable[DatasetName], datasets: Mapping[DatasetName, Dataset]) -> list[Resplits]:
    """Those of the named data sets that are resplits, grouped; a resplit without a second one like it is left out.

    Raises `InputError` for two of a group with the same seed, which are the same splits.
    """
    alike: dict[tuple[DatasetName, int, int, int], dict[DatasetName, int]] = {}
    for name in names:
        resplit = datasets[name].resplit
        if resplit:
            sizes = (resplit.of, resplit.train, resplit.val, resplit.test)
            alike.setdefault(sizes, {})[name] = resplit.seed
    found = {sizes: seeds for sizes, seeds in alike.items() if len(seeds) > 1}
    for seeds in found.values():
        _check_resplit_seeds(seeds)
    return [Resplits(of, list(seeds), train, test) for (of, train, _, test), seeds in found.items()]


def _check_resplit_seeds(seeds: Mapping[DatasetName, int]) -> None:
    drawn: dict[int, str] = {}
    for dataset, seed in seeds.items():
        if (other := drawn.setdefault(seed, dataset)) != dataset:
            raise InputError(f"datasets.{dataset}.resplit.seed: {other} has the same one; set another one.")
