"""Exports and imports of models in the plan, and `densevse import`, which copies a folder below resources/carried/."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from densevse.config.environment import check_extra
from densevse.config.networks import NetworkConfig
from densevse.config.registries import STRUCTURES, VIEWS, feature_view
from densevse.config.resolved import Override, resolve_settings
from densevse.config.sources import Source
from densevse.config.values import DatasetName, VariantName
from densevse.dag import datasets, features, inputs, tables, training
from densevse.dag.features import FIELDS_OF_REGIONS, IMAGE_FIELDS, modules_of_architecture
from densevse.dag.project import Project
from densevse.exchange.records import (
    HISTORY_FILE,
    RECORDS_FILE,
    VOCABULARY,
    WEIGHTS_FILE,
    ModelName,
    ModelRecords,
    check_file,
    check_settings,
    read_records,
)
from snakeproof.contents import CARRIED
from snakeproof.errors import InputError
from snakeproof.files import checksum, whole_folder
from snakeproof.jobs import Job
from snakeproof.paths import Values
from snakeproof.strict import suggest_name

_WITH_ORIGIN = ("parameters.", "training.", "phases.")
_UNSTATED = "not stated: a file of the user's own"


def imported_models(project: Project) -> list[str]:
    """The folder of each imported model, below that of all."""
    folder = _folder(project)
    found = sorted(folder.glob(f"*/models/*/seed*/round*/{RECORDS_FILE}"))
    return [path.parent.relative_to(folder).as_posix() for path in found]


@cache
def vocabularies(project: Project) -> dict[str, Values]:
    """File below results/, without .parquet -> a model that it came with; those of one name are equal."""
    return {
        f"{ModelName.from_place(model).dataset}/vocabulary/{file.stem}": {"imported_model": model, "file": file.stem}
        for model in imported_models(project)
        for file in sorted((_folder(project) / model).glob(f"{VOCABULARY}/*.parquet"))
    }


def files(project: Project) -> list[str]:
    """The imported files and folders."""
    return [str(path) for path in sorted(_folder(project).rglob("*"))]


def vocabulary(project: Project, imported_vocabulary: str) -> Values:
    """The imported model that a vocabulary came with."""
    return vocabularies(project)[imported_vocabulary]


def export_folder(
    project: Project, dataset: DatasetName, variant: VariantName, seed: int | None = None, onnx: bool = False
) -> str:
    """The folder of the export of a variant's last round, for its first seed unless one is given."""
    return project.artifact_folder("onnx" if onnx else "exported", dataset, project.last_round(dataset, variant, seed))


def onnx_weights(project: Project, dataset: DatasetName, variant: VariantName) -> str | Values:
    """The weights of the network that becomes a part of a model's ONNX files.

    Raises `InputError` for a model without one vector of the whole image and one of the words, or if the extra is
    not installed.
    """
    method = project.variant(dataset, variant)
    if len(method.views) != 1 or not VIEWS[method.views[0]].one_vector or method.sentences != ["words"]:
        raise InputError(
            f"{variant} reads {', '.join(method.views)} of images and {', '.join(method.sentences)} of sentences: "
            "only a model that has one vector of the whole image and one of the words becomes ONNX files, such as "
            "vse. Export this one without --onnx."
        )
    check_extra("onnxscript", "onnx", f"the export of {variant} as ONNX")
    ((_, network),) = _named_networks(project, dataset, variant)
    return features.weights(project, dataset, network)


def onnx_job(project: Project, dataset: DatasetName, variant: VariantName) -> Job:
    """The export of a model's encoders as ONNX files."""
    job = training.model_job(project, dataset, variant)
    ((view, _, network),) = _networks(project, dataset, variant)
    by_name = [*modules_of_architecture(network.architecture), f"densevse.vision.views.{view}"]
    return job._replace(modules=[*job.modules, *by_name])


def export_job(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> Job:
    """The export of a model, with the plan of a table that has its row only."""
    plan = tables.plan_of_model(project, dataset, variant, seed, round)
    given = {
        "settings": settings(project, dataset, variant, seed, round),
        "described": _card_contents(project, dataset, variant),
        "plan": plan.model_dump(mode="json"),
    }
    return Job(given)


def use_job(project: Project, imported_model: str) -> Job:
    """The use of an imported model: the settings and code with which it would be trained here."""
    return Job({"settings": settings(project, *ModelName.from_place(imported_model))})


def settings(project: Project, dataset: DatasetName, variant: VariantName, seed: int, round: int) -> dict[str, Any]:
    """The settings that decide a model: those and the code of its training, and how it reads images and sentences.

    The number of threads, on which last bits depend, and the places of files are left out.
    """
    entry, method = project.datasets[dataset], project.variant(dataset, variant)
    job = training.job(project, dataset, variant, seed, round)
    trained = job.settings["job"]
    parsed = any(STRUCTURES[name].parsed for name in method.sentences)
    return {
        "code": project.code.digest("densevse.training.retrieval:train", *job.modules),
        **{name: trained[name] for name in ("method", "parameters", "training", "phases", "seed")},
        "images": {
            view: _view_settings(view, name, network) for view, name, network in _networks(project, dataset, variant)
        },
        "sentences": {
            "structures": trained["sentences"],
            "tokenisation_code": project.code.digest("densevse.language.tokens:write_tokens"),
            "minimum_word_count": entry.minimum_word_count,
            "parser": entry.parser if parsed else None,
            "parsing": inputs.parsing_job(project, entry.parser).settings["options"] if parsed else None,
            "word_vectors": entry.word_vectors if method.word_vectors else None,
        },
        "dataset": datasets.reading(project, dataset),
    }


def _card_contents(project: Project, dataset: DatasetName, variant: VariantName) -> dict[str, Any]:
    """The contents of a model's card beyond its settings: titles, origins of settings and weights, and licences."""
    over = [Override("the configuration of the run", dict(project.overrides))]
    stated = resolve_settings(variant, dataset, project.config, over, project.root)
    networks = {name: network for _, name, network in _networks(project, dataset, variant)}
    return {
        "title": project.variant(dataset, variant).title,
        "dataset": project.datasets[dataset].title,
        "origins": {row.path: row.origin for row in stated if row.path.startswith(_WITH_ORIGIN)},
        "weights": {name: _origin(network) for name, network in networks.items()},
        "licences": dict(_licences(project, dataset, variant, networks)),
        "hub_data_sets": _hub_data_sets(project, dataset),
        "hub_networks": sorted(
            one.weights.hub for one in networks.values() if one.weights and one.weights.hub and not one.local
        ),
    }


def _hub_data_sets(project: Project, dataset: DatasetName) -> list[str]:
    """The repositories of the Hugging Face Hub that a data set's files come from."""
    entry = project.datasets[dataset]
    read = [entry.sources[name].hub for name in project.source_names(dataset) if name not in entry.local]
    return sorted({hub.removeprefix("datasets/") for hub in read if hub})


def model_vocabularies(project: Project, dataset: DatasetName, variant: VariantName) -> list[Values]:
    """The vocabularies with which a model reads sentences, and files from the same jobs.

    Raises `InputError` for a model without training, or on given features.
    """
    if project.variant(dataset, variant).is_untrained:
        raise InputError(
            f"{variant} is a network without further training, so there is nothing to export. Name the same "
            "network and weights in the other project."
        )
    _check_features(project, dataset, variant)
    inputs = training.inputs_of_sentences(project, dataset, variant)
    folder = f"{project.results}/{dataset}/{VOCABULARY}/"
    read = [str(path) for path in inputs.values() if str(path).startswith(folder)]
    names = [path.removeprefix(folder).removesuffix(".parquet") for path in read]
    beside = [name.replace("relations-", "fragments-") for name in names]
    return [{"vocabulary": name} for name in dict.fromkeys([*names, *beside])]


def _check_features(project: Project, dataset: DatasetName, variant: VariantName) -> None:
    given = project.datasets[dataset].features
    for view, name in _named_networks(project, dataset, variant):
        if name in given:
            raise InputError(
                f"datasets.{dataset}.features.{name}: {variant} reads the view {view} from these given features, "
                "which an export cannot describe; export a model that reads features of config/networks."
            )


def _networks(project: Project, dataset: DatasetName, variant: VariantName) -> Iterator[tuple[str, str, NetworkConfig]]:
    """Each view that a network makes, with the network and its settings."""
    for view, name in _named_networks(project, dataset, variant):
        yield view, name, features.network_settings(project, dataset, name)


def _named_networks(project: Project, dataset: DatasetName, variant: VariantName) -> Iterator[tuple[str, str]]:
    method = project.variant(dataset, variant)
    for view in map(feature_view, method.views):
        if VIEWS[view].made_by != "generator":
            yield view, project.view_network(variant, dataset, view, method.networks)


def _licences(
    project: Project, dataset: DatasetName, variant: VariantName, networks: Mapping[str, NetworkConfig]
) -> Iterator[tuple[str, str]]:
    """The licences of everything that a model was trained on."""
    entry = project.datasets[dataset]
    for name in project.source_names(dataset):
        own = name in entry.local
        yield f"{name} of the data set {dataset}", _UNSTATED if own else entry.sources[name].licence
    for name, network in networks.items():
        if network.local or network.weights:
            yield f"weights of the network {name}", _licence(network.weights, network.local)
        if network.tokenizer:
            yield f"tokenizer of the network {name}", _licence(network.tokenizer.source, network.tokenizer.local)
    if project.variant(dataset, variant).word_vectors and entry.word_vectors:
        vectors = project.config.word_vectors[entry.word_vectors]
        yield f"word vectors {entry.word_vectors}", _licence(vectors.source, vectors.local)


def _folder(project: Project) -> Path:
    """The folder of imported models."""
    return Path(project.resources, CARRIED)


def _view_settings(view: str, name: str, network: NetworkConfig) -> dict[str, Any]:
    """The settings that decide the features of a view."""
    fields = FIELDS_OF_REGIONS if VIEWS[view].of_proposals else IMAGE_FIELDS
    return {"network": name, "layer": network.layers.get(view), **network.model_dump(mode="json", include=fields)}


def _origin(network: NetworkConfig) -> str:
    """The origin of a network's weights; a file of the user's own is used in place of all others."""
    if network.local:
        return _UNSTATED
    if network.trained_on:
        return f"trained on {network.trained_on} by the workflow"
    if network.weights is None:
        return _UNSTATED
    return next(iter(network.weights.addresses), network.weights.manual or "")


def _licence(source: Source | None, local: str | None) -> str:
    return source.licence if source and not local else _UNSTATED


def import_model(folder: str | Path, project: Project) -> Path:
    """Imports the model in `folder`, and returns the folder of the copy.

    Raises `InputError`, before it copies anything, if a file is missing or changed; if the configuration lacks the data
    set, variant or networks, or gives them other settings; if a model of this name exists already; or if the results
    have another vocabulary than the model's.
    """
    source = Path(folder)
    records = read_records(source / RECORDS_FILE)
    _check_names(source / RECORDS_FILE, records, project)
    for name in sorted({*_required_files(records, project), *records.files}):
        check_file(source / name, records, name)
    check_settings(source / RECORDS_FILE, records, settings(project, *records.name))
    place = _folder(project) / records.name.place
    _check_free(place, records, project)
    known = set(_existing_vocabularies(source, records, project))
    with whole_folder(place) as temporary:
        for name in [*records.files, RECORDS_FILE]:
            if name not in known:
                (temporary / name).parent.mkdir(exist_ok=True)
                shutil.copyfile(source / name, temporary / name)
    return place


def _check_names(where: Path, records: ModelRecords, project: Project) -> None:
    """Raises `InputError` for a data set, variant or network that the configuration lacks."""
    config = project.config
    networks = [seen["network"] for seen in records.settings.get("images", {}).values()]
    named: list[tuple[str, str, Sequence[str]]] = [
        ("datasets", records.dataset, [*config.datasets]),
        ("methods", records.variant, config.variant_names()),
    ]
    named += [("networks", name, [*config.networks, *config.concept_networks]) for name in networks]
    for folder, name, known in named:
        if name not in known:
            raise InputError(
                f"{where}: {folder}.{name} is not configured here, and the model needs it{suggest_name(name, known)}. "
                f"Add the entry {name} to config/{folder}, as the project has it that exported the model."
            )


def _required_files(records: ModelRecords, project: Project) -> list[str]:
    """The files of the model that the workflow reads."""
    vocabularies = model_vocabularies(project, records.dataset, records.variant)
    return [WEIGHTS_FILE, HISTORY_FILE, *(f"{VOCABULARY}/{one['vocabulary']}.parquet" for one in vocabularies)]


def _check_free(place: Path, records: ModelRecords, project: Project) -> None:
    """Raises `InputError` if a model of this name exists."""
    for folder in (place, Path(project.config.results, records.name.place)):
        if folder.exists():
            raise InputError(
                f"{folder}: a model of this data set, variant, seed and round is there already. Delete that folder to "
                "use the one that is imported instead."
            )


def _existing_vocabularies(source: Path, records: ModelRecords, project: Project) -> Iterator[str]:
    """The vocabularies that the results already hold. Raises `InputError` if one differs from the model's."""
    for name in records.files:
        if not name.startswith(f"{VOCABULARY}/"):
            continue
        made = Path(project.results, records.dataset, name)
        imported = _folder(project).glob(f"{records.dataset}/models/*/seed*/round*/{name}")
        for path in (made, *imported):
            if path.is_file() and checksum(path) != records.files[name]:
                raise InputError(
                    f"{path}: another vocabulary than {source / name}, which the model was trained with. Import "
                    f"the model into another folder of results, or delete {path} and what was made of it."
                )
        if made.is_file():
            yield name
