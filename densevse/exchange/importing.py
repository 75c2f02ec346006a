"""Imports an exported model: checks everything, then copies its folder below resources/carried/."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from densevse.artifacts.files import checksum, whole_folder
from densevse.config.strict import or_meant
from densevse.dag.project import Project
from densevse.exchange.dag import ExchangeStage
from densevse.exchange.records import (
    HISTORY_FILE,
    RECORDS_FILE,
    VOCABULARY,
    WEIGHTS_FILE,
    ModelRecords,
    check_file,
    check_settings,
    read_records,
)
from densevse.runtime.errors import InputError


def import_model(folder: str | Path, project: Project) -> Path:
    """Imports the model in `folder`, and returns the folder of the copy.

    Raises `InputError`, before it copies anything, if a file is missing or changed; if the configuration lacks the data
    set, variant or networks, or gives them other settings; if a model of this name exists already; or if the results
    have another vocabulary than the model's.
    """
    source, stage = Path(folder), ExchangeStage(project)
    records = read_records(source / RECORDS_FILE)
    _check_names(source / RECORDS_FILE, records, project)
    for name in sorted({*_needed(records, stage), *records.files}):
        check_file(source / name, records, name)
    check_settings(source / RECORDS_FILE, records, stage.settings(*records.name))
    place = stage.folder / records.name.place
    _check_free(place, records, project)
    known = set(_vocabularies_here(source, records, stage))
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
                f"{where}: {folder}.{name} is not configured here, and the model needs it{or_meant(name, known)}. Add "
                f"the entry {name} to config/{folder}, as the project has it that exported the model."
            )


def _needed(records: ModelRecords, stage: ExchangeStage) -> list[str]:
    """The files of the model that the workflow reads."""
    vocabularies = stage.vocabularies_of(records.dataset, records.variant)
    return [WEIGHTS_FILE, HISTORY_FILE, *(f"{VOCABULARY}/{one['vocabulary']}.parquet" for one in vocabularies)]


def _check_free(place: Path, records: ModelRecords, project: Project) -> None:
    """Raises `InputError` if a model of this name exists."""
    for folder in (place, Path(project.config.results, records.name.place)):
        if folder.exists():
            raise InputError(
                f"{folder}: a model of this data set, variant, seed and round is there already. Delete that folder to "
                "use the one that is imported instead."
            )


def _vocabularies_here(source: Path, records: ModelRecords, stage: ExchangeStage) -> Iterator[str]:
    """The vocabularies that the results already hold. Raises `InputError` if one differs from the model's."""
    for name in records.files:
        if not name.startswith(f"{VOCABULARY}/"):
            continue
        made = Path(stage.results, records.dataset, name)
        imported = stage.folder.glob(f"{records.dataset}/models/*/seed*/round*/{name}")
        for path in (made, *imported):
            if path.is_file() and checksum(path) != records.files[name]:
                raise InputError(
                    f"{path}: another vocabulary than {source / name}, which the model was trained with. Import "
                    f"the model into another folder of results, or delete {path} and what was made of it."
                )
        if made.is_file():
            yield name
