"""Validates a part of the configuration and reports mistakes key by key.

It is separate from the types of the configuration, so that a job that checks one part does not import all of them.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from densevse.runtime.errors import InputError

Entry = TypeVar("Entry", bound=BaseModel)

_KEY = re.compile(r"([\w.]+): (.*)", re.DOTALL)
_MARKS = {"[key]", "[trained]", "[untrained]", "[given]"}
"""Parts of paths that are not keys: pydantic's for kinds of mistakes, and ours for kinds of entries."""
_NUMBERS = ("int_type", "float_type")


def validate(model: type[Entry], values: Any, where: str) -> Entry:
    """Validates `values` as `model`. Raises `InputError` that lists each wrong key with its path."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise not_valid(where, [line(path, message) for path, message in wrong_keys(error)]) from None


def line(path: Sequence[str], message: str) -> str:
    """A wrong key's line in the list of an error."""
    return f"{'.'.join(path) or '(top)'}: {message}"


def wrong_keys(error: ValidationError) -> Iterator[tuple[list[str], str]]:
    """Path and message of each wrong key. A validator's message begins with its key and a colon."""
    for found in error.errors():
        path = [str(part) for part in found["loc"] if part not in _MARKS]
        message = found["msg"].removeprefix("Value error, ")
        if found["type"] != "value_error" and isinstance(found["input"], str | int | float):
            message += f", not {found['input']!r}"
        if found["type"] in _NUMBERS and isinstance(found["input"], str):
            message += _instead_of_text(found["input"])
        named = _KEY.fullmatch(message) if found["type"] == "value_error" else None
        yield ([*path, *named[1].split(".")], named[2]) if named else (path, message)


def _instead_of_text(text: str) -> str:
    """Advice if text is in the place of a number, as YAML reads 1e-4; empty if the text is no number."""
    try:
        number = float(text)
    except ValueError:
        return ""
    if isinstance(yaml.safe_load(text), str):
        written = yaml.safe_dump(int(number) if number.is_integer() else number).split()[0]
        return f", which is text in YAML; write {written}"
    return ", which is text; write it without quotes, and in a file (nested values of --config are all text)"


def not_valid(where: str, wrong: Sequence[str]) -> InputError:
    """The error that lists all mistakes, one line for each key."""
    lines = "\n".join(f"  {line}" for line in dict.fromkeys(wrong))
    return InputError(f"{where} is not valid; correct these keys:\n{lines}")
