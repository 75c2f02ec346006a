"""Fields whose type depends on another field of the same entry: the options of a reader, the parameters of a method."""

from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BeforeValidator, ValidationInfo

from densevse.config.strict import Strict


def of_type(by: str, types: Mapping[str, type[Strict]]) -> BeforeValidator:
    """Validate a field as the one of `types` that the entry's field `by`, which comes before it, names."""
    return of_found_type(by, types.get)


def of_found_type(by: str, find: Callable[[str], type[Strict] | None]) -> BeforeValidator:
    """As `of_type`, with a function that finds the type, or nothing for a name that is wrong."""

    def validated(value: Any, info: ValidationInfo) -> Strict:
        kind = find(info.data[by]) if by in info.data else None
        # A name that is wrong is an error of the other field; this one has nothing to be held to.
        return Strict() if kind is None else kind.model_validate(value)

    return BeforeValidator(validated)
