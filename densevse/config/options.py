"""Fields whose type depends on another field of the entry: a reader's options, a method's parameters."""

from collections.abc import Mapping
from typing import Any

from pydantic import BeforeValidator, ValidationInfo

from densevse.config.strict import Strict


def of_type(by: str, types: Mapping[str, type[Strict]]) -> BeforeValidator:
    """Validates a field as the one of `types` that the entry's earlier field `by` names."""

    def validated(value: Any, info: ValidationInfo) -> Strict:
        kind = types.get(info.data[by]) if by in info.data else None
        # A wrong name is an error of the other field; without it this one cannot be checked.
        return Strict() if kind is None else kind.model_validate(value)

    return BeforeValidator(validated)
