"""Proposals in the plan: the proposers, their jobs, and the user's files that they read."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from densevse.config.environment import check_extra
from densevse.config.sources import own_paths
from densevse.config.values import DatasetName
from densevse.dag.fields import CONTOURS_OF_MCG, FOREST_OF_MCG, PROPOSALS_OF_MCG, dump_entry
from densevse.dag.project import Project
from snakeproof.jobs import Job
from snakeproof.paths import Values


def find_proposers(project: Project, *kinds: str, **options: bool) -> list[str]:
    """The proposers of these kinds; of those, the ones with (or without) the named options."""
    return [
        name
        for name, entry in project.config.proposers.items()
        if entry.kind in kinds and all(bool(getattr(entry.options, one)) is wanted for one, wanted in options.items())
    ]


def job(project: Project, dataset: DatasetName, proposer: str) -> Job:
    """The boxes of a proposer of any kind but MCG and clusters."""
    entry = project.config.proposers[proposer]
    options = dump_entry(entry.options)
    # Not the folders of the user's files: the job reads its inputs, and their contents decide.
    options |= {name: Path(options[name]).name for name in ("path", "folder") if name in options}
    return Job(
        {
            "proposer": {"kind": entry.kind, "options": options},
            "source_names": project.source_names(dataset),
        }
    )


def own_files(project: Project, proposer: str) -> list[str]:
    """The user's files or folders that a proposer reads."""
    return [path for _, path in own_paths(project.config.proposers[proposer].options, proposer)]


def contours_job(project: Project, dataset: DatasetName, proposer: str) -> Job:
    """The contours of a data set's images, by a proposer's detector."""
    options = mcg_options(project, proposer, CONTOURS_OF_MCG)
    return Job({"options": options, "source_names": project.source_names(dataset), "threads": project.threads(dataset)})


def contour_model(project: Project, proposer: str) -> str | Values:
    """The file of the contour detector: the user's model of structured edges, or HED's weights."""
    return dump_entry(project.config.proposers[proposer].options)["structured_edges"] or {}


def ranker_from_masks_job(project: Project, proposer: str) -> Job:
    """The ranker that learns from masks."""
    options = mcg_options(project, proposer, FOREST_OF_MCG)
    return Job({"options": options, "masks": dump_entry(project.config.proposers[proposer].options)["masks"]})


def samples(project: Project, proposer: str) -> list[Values]:
    """The candidates from which a ranker learns by masks: those of the first shards of a data set."""
    masks = dump_entry(project.config.proposers[proposer].options)["masks"]
    return project.shards(masks["dataset"], dataset=masks["dataset"])[: masks["shards"]]


def mcg_job(project: Project, proposer: str) -> Job:
    """MCG's proposals, as boxes or as segments."""
    return Job({"options": mcg_options(project, proposer, PROPOSALS_OF_MCG)})


def mcg_options(project: Project, proposer: str, names: Iterable[str]) -> dict[str, Any]:
    """Some options of a proposer by MCG. Raises `InputError`, before any job runs, if higra is not installed."""
    check_extra("higra", extra="mcg", needs=f"proposers.{proposer}: MCG")
    options = project.config.proposers[proposer].options
    return {name: getattr(options, name) for name in names}
