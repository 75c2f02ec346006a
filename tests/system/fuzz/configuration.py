"""Random overrides of the configuration: each is refused by its path, or everything can be planned with it."""

from collections.abc import Iterator
from importlib import import_module
from types import SimpleNamespace
from typing import Any

from hypothesis import strategies as st

from densevse.config.analyses import FOLDER
from densevse.config.load import load
from densevse.dag import datasets, features, inputs, proposals, tables, training
from densevse.dag.project import Project
from densevse.dag.tables import check_tables
from snakeproof.errors import InputError
from tests.projects import ROOT

Override = tuple[tuple[str, ...], Any]
ANALYSES = [import_module(f"densevse.analyses.{file.parent.name}.dag") for file in FOLDER.glob("*/dag.py")]
TABLES = ("scenes", "flickr8k", "coco", "sm_lstm_1")
DATASETS = ("scenes", "flickr8k", "coco", "pascal1k")
NAMES = ("vse", "hm_lstm", "scenes", "alexnet", "scenes_net", "whole", "regions", "words", "main", "mcg", "grammar")

numbers = st.one_of(
    st.sampled_from((-1, 0, 1, 2, 0.5, -0.5, 1.0, 10**9, float("nan"), float("inf"))), st.integers(), st.floats()
)
words = st.one_of(st.sampled_from(("", *NAMES)), st.text(max_size=6))
scalars = st.one_of(st.none(), st.booleans(), numbers, words)
values = st.one_of(
    scalars,
    st.lists(scalars, max_size=3),
    st.lists(st.lists(words, max_size=2), max_size=2),
    st.dictionaries(words, scalars, max_size=2),
)


def like(value: Any) -> st.SearchStrategy[Any]:
    """Values of the kind in the configuration, more of which are accepted."""
    if isinstance(value, bool):
        return st.booleans()
    if isinstance(value, int):
        return st.integers(1, 300)
    if isinstance(value, float):
        return st.floats(0, 1)
    if isinstance(value, list | tuple) and value:
        return st.lists(st.sampled_from(value), max_size=3)
    return st.one_of(st.none(), st.sampled_from(NAMES)) if value is None or isinstance(value, str) else st.just(value)


def places(entry: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """The path of each key of the configuration with its value, and of one missing key in each mapping."""
    if isinstance(entry, dict):
        yield (*path, "nonsense"), None
        for key, value in entry.items():
            yield (*path, key), value
            yield from places(value, (*path, key))


PLACES = list(places(load(ROOT / "config", {}).model_dump()))
overrides: st.SearchStrategy[Override] = st.sampled_from(PLACES).flatmap(
    lambda place: st.tuples(st.just(place[0]), st.one_of(values, like(place[1])))
)


def overriding(path: tuple[str, ...], value: Any) -> dict[str, Any]:
    """A configuration with only this override."""
    for key in reversed(path):
        value = {key: value}
    return value


def refusal(override: Override) -> str | None:
    """The reason why an override is refused, when the configuration is read or jobs are planned; None if it is not."""
    try:
        project = Project(ROOT, overriding(*override))
        check_tables(project)
        plan(project)
    except InputError as error:
        return str(error)
    return None


def is_named(path: tuple[str, ...], message: str) -> bool:
    """True if a message names a key, its contents, or its parent: a list too short, a missing name."""
    return any(".".join(path[:length]) in message for length in range(len(path), min(len(path), 2) - 1, -1))


def plan(project: Project) -> None:
    """Requests everything from which the rules of the main tables and data sets are made, as Snakemake does."""
    for name in TABLES:
        for function in (
            tables.plan,
            tables.retrievals,
            tables.section_datasets,
            tables.image_section_datasets,
            tables.papers,
        ):
            function(project, name)
    for name in DATASETS:
        plan_data_set(project, name)


def plan_data_set(project: Project, name: str) -> None:
    """The same of a data set's stages, and of the training of each variant in its main table."""
    dataset = project.config.datasets[name]
    datasets.sources(project, name), datasets.reading(project, name)
    proposals.job(project, name, dataset.proposer)
    inputs.parse_shards(project, name), inputs.picked_vectors(project, name)
    for view, network in dataset.networks.items():
        features.files(project, name, view, network)
    for variant in tables.variants(project, name):
        for seed in dataset.seeds:
            training.job(project, name, variant, seed)
            training.origin(project, name, variant, seed)
            training.inputs(project, SimpleNamespace(dataset=name, variant=variant, seed=str(seed)))
    for module in ANALYSES:
        if hasattr(module, "target_files"):
            module.target_files(project, name)
