"""Proposals against true boxes in the plan: the proposers that a data set's table compares."""

from densevse.analyses.proposal_recall.settings import ProposalRecallSettings, ProposalTablePlan
from densevse.config.values import DatasetName
from densevse.dag.fields import CONTOURS_OF_MCG, PROPOSALS_OF_MCG, dump_entry
from densevse.dag.project import Project
from densevse.dag.proposals import find_proposers, mcg_options
from densevse.runtime.project import PACKAGE
from snakeproof.jobs import Job
from snakeproof.paths import Values


def segment_overlap(project: Project, dataset: DatasetName, proposer: str) -> list[Values]:
    """The shards of segments' overlaps, if a proposer gives segments and the data set has masks."""
    known = project.config.proposers[proposer].kind == "mcg" and project.datasets[dataset].has_masks
    return project.shards(dataset) if known else []


def compared_proposers(project: Project, dataset: DatasetName) -> list[Values]:
    """The data set's proposer, and those with which its table compares it."""
    compared = project.config.analysis(ProposalRecallSettings).dataset_entry(dataset).proposers
    return [{"proposer": name} for name in dict.fromkeys([project.datasets[dataset].proposer, *compared])]


def timed_proposers(project: Project, dataset: DatasetName) -> list[Values]:
    """The compared proposers whose every step is computed here."""
    here = find_proposers(project, "selective_search") + find_proposers(project, "mcg", maps=False)
    return [values for values in compared_proposers(project, dataset) if values["proposer"] in here]


def times_job(project: Project, dataset: DatasetName, proposer: str) -> Job:
    """The options of a proposer whose times are measured, and the names of a data set's sources."""
    entry = project.config.proposers[proposer]
    searches = entry.kind == "selective_search"
    names = [*CONTOURS_OF_MCG, *PROPOSALS_OF_MCG]
    options = dump_entry(entry.options) if searches else mcg_options(project, proposer, names)
    return Job({"options": options, "source_names": project.source_names(dataset)})


def table_job(project: Project, dataset: DatasetName) -> Job:
    """The plan of the table, as ProposalTablePlan."""
    compared, timed = (
        [row["proposer"] for row in rows]
        for rows in (compared_proposers(project, dataset), timed_proposers(project, dataset))
    )
    plan = ProposalTablePlan(title=project.datasets[dataset].title, dataset=dataset, proposers=compared, timed=timed)
    return Job({"plan": plan.model_dump(mode="json")})


def published_metrics(project: Project, dataset: DatasetName) -> list[Values]:
    """The published metrics of proposers on a data set, and how they were measured; empty without any."""
    kinds = ("csv", "yaml")
    files = {kind: PACKAGE / f"analyses/proposal_recall/published/{dataset}.{kind}" for kind in kinds}
    return [{"kind": kind} for kind, file in files.items() if file.is_file()]
