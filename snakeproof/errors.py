"""Errors that name what is wrong and what to do, and the values of nested mappings in which two artifacts differ."""

from collections.abc import Iterator, Mapping
from typing import Any


class InputError(Exception):
    """An input of the user (a file, a configuration key, a row) cannot be used.

    The message names the file, key or row, what was expected and found, and what to do.
    """


def leaves(values: Any, above: str = "") -> Iterator[tuple[str, Any]]:
    """Each plain value of nested mappings and lists, with its path; a list of plain values is one value."""
    if isinstance(values, list) and any(isinstance(value, Mapping) for value in values):
        values = dict(enumerate(values))
    if not isinstance(values, Mapping):
        yield above, values
        return
    for key, value in values.items():
        yield from leaves(value, f"{above}.{key}" if above else str(key))


def differences(first: Any, second: Any) -> dict[str, tuple[Any, Any]]:
    """The two values at each path where they differ, None where a path is missing."""
    one, other = dict(leaves(first)), dict(leaves(second))
    paths = dict.fromkeys([*one, *other])
    return {path: (one.get(path), other.get(path)) for path in paths if one.get(path) != other.get(path)}


def describe_differences(expected: Any, found: Any) -> str:
    """The differences as part of an error: "network: expected vgg19, found alexnet"."""
    return "; ".join(
        f"{f'{path}: ' if path else ''}expected {spell_none(one)}, found {spell_none(other)}"
        for path, (one, other) in differences(expected, found).items()
    )


def spell_none(value: Any) -> Any:
    """The value for a message, in which None is the word none."""
    return "none" if value is None else value
