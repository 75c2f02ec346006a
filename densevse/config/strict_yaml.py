"""YAML files without repeated keys, of which YAML's readers would silently keep the last."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from densevse.runtime.errors import InputError

LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's if it is installed: ten times faster


class _StandsTwice(yaml.YAMLError):
    """A repeated key, with its lines."""


class _OneOfEachKey(LOADER):  # type: ignore[misc]
    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, key) is not key:
                lines = f"in lines {first[key.value].start_mark.line + 1} and {key.start_mark.line + 1}"
                raise _StandsTwice(f"the key {key.value!r} occurs twice, {lines}")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(path: str | Path) -> Any:
    """The values of a YAML file. Raises `InputError` if it is not YAML, or a key in it occurs twice."""
    return _load(_text(path), path)


def check_configfiles(paths: Iterable[str | Path]) -> None:
    """Raises `InputError` for a key that occurs twice in a file, YAML or JSON, that Snakemake reads by itself."""
    for path in paths:
        text = _text(path)
        if text.lstrip().startswith("{"):  # JSON may have tabs between its values, and unpaired surrogates in them
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
        raise InputError(f"{path}: {error}, and only the last would count; join the two, or remove one.") from None
    except RecursionError:
        raise InputError(f"{path}: lists or mappings are nested too deep; write fewer levels.") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error
