"""YAML files in which each key stands once: of a key that stands twice, YAML's readers keep the last without a word."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from densevse.runtime.errors import InputError

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's where it is there: ten times faster


class _StandsTwice(yaml.YAMLError):
    """A key that stands twice, with the lines."""


class _OneOfEachKey(LOADER):  # type: ignore[misc]
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, key) is not key:
                lines = f"in lines {first[key.value].start_mark.line + 1} and {key.start_mark.line + 1}"
                raise _StandsTwice(f"the key {key.value!r} stands twice, {lines}")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(path: str | Path) -> Any:
    """The values of a YAML file. Raises `InputError` if it is none, or a key in it stands twice."""
    return _load(_text(path), path)


def check_configfiles(paths: Iterable[str | Path]) -> None:
    """Raise `InputError` for a key that stands twice in a file, YAML or JSON, that Snakemake reads by itself."""
    for path in paths:
        text = _text(path)
        if text.lstrip().startswith("{"):  # JSON has tabs between its values, and halves of surrogate pairs in them
            text = re.sub(r"\\u(?=[0-9a-fA-F]{4})", "_u", text.replace("\t", " "))
        _load(text, path)


def _text(path: str | Path) -> str:
    try:
        return Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 ({error}); save it in that encoding.") from error


def _load(text: str, path: str | Path) -> Any:
    try:
        return yaml.load(text, Loader=_OneOfEachKey)
    except _StandsTwice as error:
        raise InputError(
            f"{path}: {error}, and only the last would count; put what is below the two under one, or take one out."
        ) from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error
