"""The base of every type of the configuration."""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


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
