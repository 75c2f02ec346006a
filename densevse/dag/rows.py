"""Rows of tables in the plan: their titles, the settings that are changed for a data set, and given files."""

from collections.abc import Iterable, Mapping
from typing import Any

from densevse.config.given import GivenFiles
from densevse.config.registries import VIEWS, feature_view
from densevse.config.values import DatasetName, VariantName
from densevse.dag.fields import LAYOUT, dump_fields
from densevse.dag.project import Project
from densevse.report.plan import Difference, MeasuredVariant
from snakeproof.errors import differences
from snakeproof.jobs import Job
from snakeproof.paths import Values


def measured_variant(project: Project, dataset: DatasetName, name: VariantName, seeds: list[int]) -> MeasuredVariant:
    """A variant after its last round, an ensemble of such, or a given row."""
    members = _members(project, name)
    alone = members == [name]
    last: Values = project.last_round(dataset, name) if alone else {"variant": name, "round": None}
    read = _view_networks(project, dataset, members)
    return MeasuredVariant(
        title=row_title(project, dataset, name),
        seeds=seeds,
        model=last["variant"],
        round=last["round"],
        replaced=_replaced_inputs(project, dataset, read),
        changed=_dataset_changes(project, dataset, name) if alone else {},
    )


def row_title(project: Project, dataset: DatasetName, name: VariantName) -> str:
    """The title of a variant on a data set, of an ensemble, or of a given row."""
    if name in project.config.given_rows():
        return project.config.given_rows()[name].title or name
    ensemble = project.config.ensembles().get(name)
    return ensemble.title if ensemble else project.variant(dataset, name).title


def reads_concepts(project: Project, dataset: DatasetName, name: VariantName) -> bool:
    """True for a variant that reads the scores of a concept network."""
    trained = project.config.concept_networks
    read = _view_networks(project, dataset, [name]).items()
    return any(VIEWS[view].made_by == "concept_network" and network in trained for view, network in read)


def _members(project: Project, name: VariantName) -> list[VariantName]:
    """The variants whose models make a row: itself, those of an ensemble, or none of a given row."""
    ensemble = project.config.ensembles().get(name)
    return [one for one in (ensemble.members if ensemble else [name]) if one not in project.config.given_rows()]


def _view_networks(project: Project, dataset: DatasetName, variants: Iterable[VariantName]) -> dict[str, str]:
    """The network of each view of variants, and of the generators whose sentences they read."""
    read: dict[str, str] = {}
    for name in variants:
        entry = project.variant(dataset, name)
        views = [feature_view(view) for view in entry.views if VIEWS[view].made_by != "generator"]
        read |= {view: project.view_network(name, dataset, view, entry.networks) for view in views}
        writer = project.generator(dataset, entry.generator) if entry.generator else None
        if writer and writer.view:
            read[writer.view] = project.view_network(str(entry.generator), dataset, writer.view, {})
        elif writer and writer.joint_embedding:
            read |= _view_networks(project, dataset, [writer.joint_embedding])
    return read


def _dataset_changes(project: Project, dataset: DatasetName, name: VariantName) -> dict[str, Difference]:
    """The settings of a variant that a data set changes, by path."""
    own, here = (project.variant(where, name) for where in (None, dataset))
    return _differences(*(entry.model_dump(mode="json", exclude={"title"}) for entry in (own, here)))


def _replaced_inputs(project: Project, dataset: DatasetName, read: Mapping[str, str]) -> dict[str, Difference]:
    """The inputs of a variant that differ from config/datasets, whose metrics are compared with the papers'.

    These are the reading of the data set, and the networks of the views that the variant reads (`read`), by path;
    nothing for a user's own data set.
    """
    packaged, here = project.packaged_dataset(dataset), project.config.datasets[dataset]
    if packaged is None:
        return {}
    fields = {"reader", "options", "only_available", "sentences", "networks"}
    found = _differences(*(entry.model_dump(mode="json", include=fields) for entry in (packaged, here)))
    unread = {f"networks.{view}" for view, name in here.networks.items() if read.get(view) != name}
    return {path: values for path, values in found.items() if path not in unread}


def _differences(own: Mapping[str, Any], here: Mapping[str, Any]) -> dict[str, Difference]:
    """The differences of nested mappings, by path."""
    return {path: Difference(own=one, here=other) for path, (one, other) in differences(own, here).items()}


def row_files(project: Project, dataset: DatasetName, given: GivenFiles, seed: int) -> dict[str, str | Values]:
    """The files of a given row for a seed, by their keys: the user's own, or the vectors that an encoder makes."""
    if given.network is None:
        return {**given.files(seed)}
    made = {"own_file": f"{project.results}/{dataset}/vectors/{given.network}.safetensors"}
    return {"images": made, "sentences": made}


def given_file(
    project: Project, key: str, dataset: DatasetName, variant: VariantName, seed: int
) -> str | Values | None:
    """The file of a key, such as `scores`, for a seed; None if the row has no such file."""
    return row_files(project, dataset, _given_row(project, dataset, variant), seed).get(key)


def given_files(project: Project, dataset: DatasetName, variant: VariantName, seed: int) -> list[str]:
    """The user's files of a seed."""
    return list(_given_row(project, dataset, variant).files(seed).values())


def given_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The retrieval of a given row: the meaning of its files' rows and columns, and what is ranked."""
    entry = project.datasets[dataset]
    layout = dump_fields(_given_row(project, dataset, variant).layout, LAYOUT)
    return Job({"layout": layout, "ranked_sentences": entry.sentences, "top": entry.top})


def _given_row(project: Project, dataset: DatasetName, variant: VariantName) -> GivenFiles:
    return project.config.given_rows()[variant].dataset_files(dataset)
