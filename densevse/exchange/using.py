"""Uses carried models: their files take the place of those of a training here."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.artifacts.files import copy
from densevse.carry.records import check_file, check_settings, read_records


def use_carried_files(records: str | Path, files: Mapping[str, str | Path], outputs: Iterable[str | Path]) -> None:
    """Copies files of a carried model, given by their names in its records, to `outputs`, in this order.

    Raises `InputError` if a file's checksum differs from the records.
    """
    known = read_records(records)
    for (name, path), output in zip(files.items(), outputs, strict=True):
        check_file(path, known, name)
        copy(path, output)


def check_carried_model(records: str | Path, settings: Mapping[str, Any]) -> None:
    """Raises `InputError` unless a model was trained with the `settings` from densevse.carry.dag."""
    check_settings(records, read_records(records), settings)
