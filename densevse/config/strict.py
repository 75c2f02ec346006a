"""The base of every type of the configuration; YAML files without repeated keys; and messages about wrong keys."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NewType, TypeVar

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from densevse.runtime.errors import InputError


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


MOST_NAMED = 20
"""The known names that a message lists."""


def known_or_meant(name: str, known: Iterable[str]) -> str:
    """The end of a message about an unknown name: known ones, in one line, and the most similar one."""
    names = sorted(filter(None, known))
    others = f" and {len(names) - MOST_NAMED} others" if len(names) > MOST_NAMED else ""
    return f"; known: {', '.join(names[:MOST_NAMED])}{others}{or_meant(name, names)}"


LONGEST_NAME = 64
"""Bytes of a name, as a file name has 255 at most, and that of a log holds three names."""


def _file_name(name: str) -> str:
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"{name!r} is also a file name; use only letters, digits, _ and -")
    if len(name.encode()) > LONGEST_NAME:
        raise ValueError(f"{name!r} is also a part of file names; write at most {LONGEST_NAME} bytes")
    return name


FileName = Annotated[str, AfterValidator(_file_name)]
DatasetName = NewType("DatasetName", str)
"""The name of a data set in the plan; a type of its own, so that it is not confused with a variant's."""
VariantName = NewType("VariantName", str)
"""The name of a variant, an ensemble or a given row in the plan."""
DatasetKey = Annotated[DatasetName, AfterValidator(_file_name)]
VariantKey = Annotated[VariantName, AfterValidator(_file_name)]
"""These as keys of the configuration, which are file names too."""


_UNPRINTED = {"Cc", "Zl", "Zp", "Cs"}
"""Unicode's categories of control characters, line breaks, and halves of characters."""


def _title(text: str) -> str:
    if not text.strip():
        raise ValueError("a title is empty; write what tables are to print")
    found = [character for character in text if unicodedata.category(character) in _UNPRINTED]
    if found:
        raise ValueError(f"{text!r} holds a line break or control character, {found[0]!r}; write it in one line")
    return text


Title = Annotated[str, Field(min_length=1), AfterValidator(_title)]
"""One line of text that tables, pages and pictures print; each escapes it in its own way."""


def known(where: str, names: Iterable[str], those: Iterable[Any]) -> None:
    """Raises `ValueError` that names the path of the first unknown name."""
    there = list(those)
    for name in names:
        if name not in there:
            raise ValueError(f"{where}: no {name!r}{known_or_meant(name, there)}")


Split = Literal["train", "val", "test"]
Seed = Annotated[int, Field(ge=0, lt=2**32)]


def _differ(seeds: list[int]) -> list[int]:
    if len(set(seeds)) < len(seeds):
        raise ValueError(f"{seeds} holds a seed twice")
    return seeds


Seeds = Annotated[list[Seed], Field(min_length=1), AfterValidator(_differ)]
RankedSentences = Literal["all", "first_five"]
Count = Annotated[int, Field(gt=0, le=10**9)]
Length = Annotated[int, Field(gt=0, le=100_000)]
"""Of a vector or a sentence, or a number of units: no machine holds the weights of more."""


def of_type(by: str, types: Mapping[str, type[Strict]]) -> BeforeValidator:
    """Validates a field as the one of `types` that the entry's earlier field `by` names."""

    def validated(value: Any, info: ValidationInfo) -> Strict:
        kind = types.get(info.data[by]) if by in info.data else None
        # A wrong name is an error of the other field; without it this one cannot be checked.
        return Strict() if kind is None else kind.model_validate(value)

    return BeforeValidator(validated)


LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's if it is installed: ten times faster


MOST_VALUES = 1_000_000
"""Values of a file, each as often as aliases repeat it: nothing ends that goes through more of them."""
_AMBIGUOUS = re.compile(r"[-+]?0[0-9_]+|.*:.*")
"""Numbers that YAML 1.1 reads in base 8 or 60, and people and YAML 1.2 do not."""


class _StandsTwice(yaml.YAMLError):
    """A repeated key, with its lines."""


class _Misread(yaml.YAMLError):
    """Something that would be read as another thing than it says, or without end, with its key."""


class _Values:
    """Counts the values of a file, and refuses those that would be misread."""

    def __init__(self) -> None:
        self._found: dict[int, int | None] = {}  # id of a node -> its values; None while they are counted

    def count(self, node: yaml.Node, path: str = "") -> int:
        """The number of values in a node. Raises `_Misread` that names the key."""
        if id(node) not in self._found:
            self._found[id(node)] = None
            counts = (self.count(part, f"{path}.{name}") for name, part in self._parts(node, path))
            self._found[id(node)] = 1 + sum(counts)
        found = self._found[id(node)]
        if found is None:
            raise _Misread(f"{_key(path)}: an alias repeats what it is a part of; write the values out")
        if found > MOST_VALUES:
            raise _Misread(f"{_key(path)}: with its aliases this has more than {MOST_VALUES:,} values; write fewer")
        return found

    def _parts(self, node: yaml.Node, path: str) -> list[tuple[str, yaml.Node]]:
        if isinstance(node, yaml.MappingNode):
            return [(_name(key, path), value) for key, value in node.value]
        if isinstance(node, yaml.SequenceNode):
            return [(str(number), value) for number, value in enumerate(node.value)]
        if _is_plain(node, "int", "float") and _AMBIGUOUS.fullmatch(node.value):
            value = yaml.safe_load(node.value)
            raise _Misread(
                f'{_key(path)}: YAML reads {node.value} as {value}; write {value}, or for text "{node.value}"'
            )
        return []


def _name(key: yaml.Node, path: str) -> str:
    """A key of a mapping. Raises `_Misread` for one that YAML does not read as text."""
    if _is_plain(key, "bool", "int", "float", "null", "timestamp"):
        value = yaml.safe_load(key.value)
        raise _Misread(f'{_key(f"{path}.{key.value}")}: YAML reads this key as {value}; write "{key.value}", in quotes')
    return str(key.value)


def _is_plain(node: yaml.Node, *types: str) -> bool:
    """True for a scalar without quotes that YAML reads as one of these types."""
    return isinstance(node, yaml.ScalarNode) and not node.style and node.tag.rpartition(":")[2] in types


def _key(path: str) -> str:
    return path.removeprefix(".") or "(top)"


class _OneOfEachKey(LOADER):  # type: ignore[misc]
    def get_single_node(self) -> yaml.Node | None:
        node: yaml.Node | None = super().get_single_node()
        if node is not None:
            _Values().count(node)
        return node

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        first: dict[str, yaml.Node] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode) and first.setdefault(key.value, key) is not key:
                lines = f"in lines {first[key.value].start_mark.line + 1} and {key.start_mark.line + 1}"
                raise _StandsTwice(f"the key {key.value!r} occurs twice, {lines}")
        found: dict[Any, Any] = super().construct_mapping(node, deep)
        return found


def read_yaml(path: str | Path) -> Any:
    """The values of a YAML file.

    Raises `InputError` if it is not YAML, or for a key that occurs twice or would be read as another value.
    """
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
    except _Misread as error:
        raise InputError(f"{path}: {error}.") from None
    except RecursionError:
        raise InputError(f"{path}: lists or mappings are nested too deep; write fewer levels.") from None
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error


Entry = TypeVar("Entry", bound=BaseModel)

_KEY = re.compile(r"([\w.]+): (.*)", re.DOTALL)
_MARKS = {"[key]", "[trained]", "[untrained]", "[given]"}
"""Parts of paths that are not keys: pydantic's for kinds of mistakes, and ours for kinds of entries."""
_NUMBERS = ("int_type", "float_type")
_TEXTS = ("string_type", "literal_error")
_INSTEAD_OF_OTHERS = "; text that YAML reads as a number, a date, true or false (yes, no, on, off) needs quotes"


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
        if found["type"] in _TEXTS and isinstance(found["input"], bool | int | float | date):
            message += _INSTEAD_OF_OTHERS
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
