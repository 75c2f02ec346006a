"""Ensembles in the plan: what their trained members read, and the files of those that are given."""

from collections.abc import Iterator
from itertools import combinations

from densevse.config.given import GivenFiles, are_equal
from densevse.config.tables import Ensemble
from densevse.config.values import DatasetName, VariantName
from densevse.dag import training
from densevse.dag.fields import LAYOUT, dump_fields
from densevse.dag.inputs import InputFiles
from densevse.dag.project import Project
from densevse.dag.rows import row_files
from snakeproof.errors import InputError
from snakeproof.jobs import Job
from snakeproof.paths import Values, Wildcards


def inputs(project: Project, wildcards: Wildcards) -> InputFiles:
    """The artifacts that an ensemble's members read. Raises `InputError` if two members read different ones."""
    folder, ensemble = f"{project.results}/{wildcards.dataset}", wildcards.ensemble
    inputs: InputFiles = {"image_table": f"{folder}/images.parquet", "caption_table": f"{folder}/captions.parquet"}
    for name in _trained_members(project, ensemble):
        if _entry(project, ensemble).seeds_each > 1 and project.variant(wildcards.dataset, name).generator:
            raise InputError(
                f"ensembles.{ensemble}.seeds_each: {name} reads a generator's sentences, which differ by seed; set "
                "it to 1."
            )
        for key, files in training.inputs_of_variant(project, wildcards.dataset, name, wildcards.seed).items():
            if inputs.setdefault(key, files) != files:
                raise InputError(f"ensembles.{ensemble}: {name} reads another {key} than the others.")
    return inputs


def models(project: Project, dataset: DatasetName, ensemble: VariantName, seed: int) -> list[Values]:
    """The last rounds of an ensemble's trained members, for a seed of the ensemble."""
    own = _entry(project, ensemble).seeds_of_members(seed)
    return [project.last_round(dataset, name, one) for name in _trained_members(project, ensemble) for one in own]


def given_files(project: Project, dataset: DatasetName, ensemble: VariantName, seed: int) -> list[str | Values]:
    """The files of its given members, one member after the other. Raises `InputError` for one model twice."""
    members = [
        (name, row.layout, row_files(project, dataset, row, own))
        for name, row, own in _given_members(project, dataset, ensemble, seed)
    ]
    for (one, layout, files), (other, other_layout, others) in combinations(members, 2):
        paths, other_paths = ([_path(file) for file in each.values()] for each in (files, others))
        if layout == other_layout and files.keys() == others.keys() and are_equal(paths, other_paths):
            raise InputError(
                f"ensembles.{ensemble}: {one} and {other} have the same contents: {', '.join(paths)} and "
                f"{', '.join(other_paths)}; leave one out."
            )
    return [file for _, _, files in members for file in files.values()]


def _path(file: str | Values) -> str:
    return file if isinstance(file, str) else str(file["own_file"])


def job(project: Project, dataset: DatasetName, ensemble: VariantName, seed: int) -> Job:
    """The retrieval by an ensemble: the inputs of each of its models, and the meaning of given members' files."""
    trained, own_seeds = _trained_members(project, ensemble), _entry(project, ensemble).seeds_of_members(seed)
    read = [sorted(training.inputs_of_variant(project, dataset, name, seed)) for name in trained for _ in own_seeds]
    given = [
        {"name": name, "keys": list(row_files(project, dataset, row, own)), "layout": dump_fields(row.layout, LAYOUT)}
        for name, row, own in _given_members(project, dataset, ensemble, seed)
    ]
    modules = [module for name in trained for module in training.modules(project, dataset, name)]
    settings = {"inputs_of_models": read, "given_members": given}
    return Job({**project.ranking(dataset), **settings}, list(dict.fromkeys(modules)))


def _entry(project: Project, ensemble: VariantName) -> Ensemble:
    return project.config.ensembles()[ensemble]


def _trained_members(project: Project, ensemble: VariantName) -> list[VariantName]:
    return [name for name in _entry(project, ensemble).members if name not in project.config.given_rows()]


def _given_members(
    project: Project, dataset: DatasetName, ensemble: VariantName, seed: int
) -> Iterator[tuple[VariantName, GivenFiles, int]]:
    """Each given member and each of its own seeds: one file serves every seed of the ensemble.

    Raises `InputError` for a member without files of a seed.
    """
    entry = _entry(project, ensemble)
    for name in entry.members:
        if name not in project.config.given_rows():
            continue
        row, own = project.config.given_rows()[name].dataset_files(dataset), entry.seeds_of_members(seed)
        if len(row.seeds) == entry.seeds_each == 1:
            own = range(1)
        if not set(own) <= set(row.seeds):
            raise InputError(
                f"ensembles.{ensemble}: its seed {seed} adds up the seeds {', '.join(map(str, own))} of "
                f"methods.{name}, which has files of {len(row.seeds)} on {dataset}; list a file for each seed."
            )
        yield from ((name, row, one) for one in own)
