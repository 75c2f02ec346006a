"""The base of everything that may stand in the configuration."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class Strict(BaseModel):
    """A part of the configuration: unknown keys are errors, nothing is converted, values never change once read."""

    RENAMED: ClassVar[Mapping[str, str]] = {}
    """Keys of earlier versions, each with the one that has taken its place."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)

    @model_validator(mode="before")
    @classmethod
    def _keys_exist(cls, values: Any) -> Any:
        """Before pydantic's own message, which does not say what was meant."""
        fields = cls.model_fields
        for key in values if isinstance(values, Mapping) else ():
            if key in cls.RENAMED:
                raise ValueError(f"{key}: this key is now {cls.RENAMED[key]}")
            if key not in fields:
                raise ValueError(f"{key}: there is no such key{or_meant(str(key), fields)}")
        return values


def or_meant(name: str, known: Iterable[str]) -> str:
    """The end of a message on a name that is not known: the one that is most like it, where there is such."""
    alike = get_close_matches(name, known, 1)
    return f"; is {alike[0]!r} meant?" if alike else ""
