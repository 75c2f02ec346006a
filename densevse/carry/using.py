"""Carried models in use: their files take the places of those that a training would have made."""

import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from densevse.artifacts.files import atomic
from densevse.carry.records import check_file, check_settings, read_records


def use_carried_files(records: str | Path, files: Mapping[str, str | Path], outputs: Iterable[str | Path]) -> None:
    """Copy files of a carried model, given by their names in its records, to `outputs`, in this order.

    Raises `InputError` for a file whose checksum is not that of the records.
    """
    known = read_records(records)
    for (name, path), output in zip(files.items(), outputs, strict=True):
        check_file(path, known, name)
        with atomic(output) as temporary:
            shutil.copyfile(path, temporary)


def check_carried_model(records: str | Path, settings: Mapping[str, Any]) -> None:
    """Raise `InputError` unless a model was trained with the `settings` here, as densevse.carry.dag gives them."""
    check_settings(records, read_records(records), settings)
