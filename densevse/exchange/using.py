"""Uses imported models: their files take the place of those of a training here."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from densevse.artifacts.files import copy
from densevse.exchange.records import (
    HISTORY_FILE,
    VOCABULARY,
    WEIGHTS_FILE,
    ModelRecords,
    check_file,
    check_settings,
    read_records,
)


def use_model(
    records: str, imported_model: str, imported_history: str, settings: Mapping[str, Any], model: str, history: str
) -> None:
    """The job that copies an imported model and its history to where a training here would write them.

    Raises `InputError` unless the model was trained with the `settings` from densevse.exchange.dag, or if a file's
    checksum differs from the records.
    """
    known = read_records(records)
    check_settings(records, known, settings)
    _use(known, WEIGHTS_FILE, imported_model, model)
    _use(known, HISTORY_FILE, imported_history, history)


def use_vocabulary(records: str, file: str, output: str) -> None:
    """The job that copies a vocabulary that came with an imported model to where one counted here would be.

    Raises `InputError` if its checksum differs from the records.
    """
    _use(read_records(records), f"{VOCABULARY}/{Path(file).name}", file, output)


def _use(records: ModelRecords, name: str, path: str, output: str) -> None:
    """Copies the file that the records call `name`."""
    check_file(path, records, name)
    copy(path, output)
