"""The base of every type of the configuration."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, Literal, NewType

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationInfo, model_validator


class Strict(BaseModel):
    """A part of the configuration: unknown keys are errors, nothing is converted, and values never change."""

    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions, each with the key that replaced it."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _keys_exist(cls, values: Any) -> Any:
        """Checks keys before pydantic does, whose message makes no suggestion."""
        fields = cls.model_fields
        for key in values if isinstance(values, Mapping) else ():
            if key in cls.RENAMED:
                raise ValueError(f"{key}: this key is now {cls.RENAMED[key]}")
            if key not in fields:
                raise ValueError(f"{key}: there is no such key{or_meant(str(key), fields)}")
        return values


def or_meant(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: the most similar known one, if there is one."""
    alike = get_close_matches(name, known, 1)
    return f"; is {alike[0]!r} meant?" if alike else ""


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"{name!r} is also a file name; use only letters, digits, _ and -")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]
DatasetName = NewType("DatasetName", str)
"""The name of a data set in the plan; a type of its own, so that it is not confused with a variant's."""
VariantName = NewType("VariantName", str)
"""The name of a variant, an ensemble or a given row in the plan."""
DatasetKey = Annotated[DatasetName, AfterValidator(_file_name)]
VariantKey = Annotated[VariantName, AfterValidator(_file_name)]
"""These as keys of the configuration, which are file names too."""


def known(where: str, names: Iterable[str], those: Iterable[Any]) -> None:
    """Raises `ValueError` that names the path of the first unknown name."""
    there = list(those)
    for name in names:
        if name not in there:
            raise ValueError(f"{where}: no {name!r}; known: {', '.join(sorted(filter(None, there)))}")


Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0)]


def _differ(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{seeds} holds a seed twice")
    return seeds


Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_differ)]
RankedSentences = Literal["all", "first_five"]
Count = Annotated[int, Field(gt=0)]


def of_type(by: str, types: Mapping[str, type[Strict]]) -> BeforeValidator:
    """Validates a field as the one of `types` that the entry's earlier field `by` names."""

    def validated(value: Any, info: ValidationInfo) -> Strict:
        kind = types.get(info.data[by]) if by in info.data else None
        # A wrong name is an error of the other field; without it this one cannot be checked.
        return Strict() if kind is None else kind.model_validate(value)

    return BeforeValidator(validated)
