"""The records of an exported model: its name, the settings and code of its training, and a checksum of each file.

Snakemake's records of a training contain paths of its folder of results, so they are of no use elsewhere. These records
hold the same settings and code without paths. If they differ from the configuration and code here, the model is
refused; a model that was trained here would be trained again.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import Field

from densevse.config.values import DatasetName, VariantName
from snakeproof.errors import InputError, differences, spell_none
from snakeproof.files import checksum
from snakeproof.statements import current_statement, read_statement, restate
from snakeproof.strict import Strict, validate

RECORDS_FILE, WEIGHTS_FILE, HISTORY_FILE, VOCABULARY = (
    "records.json",
    "model.safetensors",
    "history.parquet",
    "vocabulary",
)
_PLACE = re.compile(r"(?P<dataset>.+)/models/(?P<variant>[^/]+)/seed(?P<seed>\d+)/round(?P<round>\d+)")
_FileInside = Annotated[str, Field(pattern=r"^(vocabulary/)?\w[\w.-]*$")]
_Sha256 = Annotated[str, Field(pattern="^[0-9a-f]{64}$")]


class ModelName(NamedTuple):
    """The data set, variant, seed and round of a trained model."""

    dataset: DatasetName
    variant: VariantName
    seed: int
    round: int

    @classmethod
    def from_place(cls, place: str) -> "ModelName":
        """The name in the path of its folder below results/. Raises `ValueError` for other paths."""
        found = _PLACE.fullmatch(place)
        if found is None:
            raise ValueError(f"{place} is not a folder of a model")
        return cls.from_wildcards(found.groupdict())

    @classmethod
    def from_wildcards(cls, wildcards: Mapping[str, str]) -> "ModelName":
        """The name in the wildcards of a job."""
        dataset, variant = DatasetName(wildcards["dataset"]), VariantName(wildcards["variant"])
        return cls(dataset, variant, int(wildcards["seed"]), int(wildcards["round"]))

    @property
    def place(self) -> str:
        """The path of its folder below results/."""
        return f"{self.dataset}/models/{self.variant}/seed{self.seed}/round{self.round}"


class ModelRecords(Strict):
    """The contents of records.json."""

    format: Literal[1] = 1
    dataset: DatasetName
    variant: VariantName
    seed: int = Field(ge=0)
    round: int = Field(ge=0)
    settings: dict[str, Any] = Field(description="what decides the model, as densevse.exchange.dag gives it")
    versions: dict[str, str] = Field(description="of the software that exported it")
    files: dict[_FileInside, _Sha256] = Field(description="name in the folder -> checksum of each file but this one")

    @property
    def name(self) -> ModelName:
        """The data set, variant, seed and round of the model."""
        return ModelName(self.dataset, self.variant, self.seed, self.round)


def read_records(path: str | Path) -> ModelRecords:
    """Reads the records at `path`. Raises `InputError` if the file is missing or has another form."""
    try:
        stored = json.loads(Path(path).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(
            f"{path}: no such file, so the model's settings are unknown. Name the whole folder that `densevse export` "
            "wrote."
        ) from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path}: not JSON ({error}). Copy the folder again, or export the model again.") from error
    return validate(ModelRecords, stored, str(path))


def check_file(path: str | Path, records: ModelRecords, name: str) -> None:
    """Raises `InputError` unless `path` is the file that the records call `name`."""
    if not Path(path).is_file():
        raise InputError(f"{path}: no such file, but {RECORDS_FILE} lists it. Copy the whole folder again.")
    if name not in records.files:
        raise InputError(f"{path}: {RECORDS_FILE} does not list it, but the model needs it. Export the model again.")
    if checksum(path) != records.files[name]:
        raise InputError(
            f"{path}: changed since the model was exported: its checksum is not that of {RECORDS_FILE}. Copy the "
            "folder again, or export the model again."
        )


def check_settings(where: str | Path, records: ModelRecords, here: Mapping[str, Any]) -> None:
    """Raises `InputError` that names each setting, or the code, in which an imported model differs from `here`."""
    found = "\n".join(
        f"  {path}: {spell_none(there)} there, {spell_none(value)} here"
        for path, (there, value) in differences(records.settings, here).items()
    )
    if found:
        raise InputError(
            f"{where}: {records.variant} on {records.dataset} was trained with other settings or code than here:\n"
            f"{found}\nGive the settings here the same values, or use the same version of the code; or train the model "
            "here instead."
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
    _copy_file(known, WEIGHTS_FILE, imported_model, model)
    _copy_file(known, HISTORY_FILE, imported_history, history)


def use_vocabulary(records: str, file: str, output: str) -> None:
    """The job that copies a vocabulary that came with an imported model to where one counted here would be.

    Raises `InputError` if its checksum differs from the records.
    """
    _copy_file(read_records(records), f"{VOCABULARY}/{Path(file).name}", file, output)


def _copy_file(records: ModelRecords, name: str, path: str, output: str) -> None:
    """Copies the file that the records call `name`; the copy states its own job, and what the file's job had found."""
    check_file(path, records, name)
    imported = read_statement(path)
    found = {**imported.names, **records.name._asdict()}
    restate(path, output, replace(current_statement(found), adopted=imported.adopted))
