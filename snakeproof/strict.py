"""The base of every type of the configuration, and messages about wrong keys."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from difflib import get_close_matches
from typing import Annotated, Any, ClassVar, TypeVar

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

from snakeproof.errors import InputError


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
                raise ValueError(f"{key}: there is no such key{suggest_name(str(key), fields)}")
        return values


def suggest_name(name: str, known: Iterable[str]) -> str:
    """Suggests the most similar known name, as the last part of a message on an unknown one; empty without one."""
    alike = get_close_matches(name, known, 1)
    return f"; is {alike[0]!r} meant?" if alike else ""


MOST_NAMED = 20
"""The known names that a message lists."""


def list_known_names(name: str, known: Iterable[str]) -> str:
    """Lists known names in one line and suggests the most similar, as the last part of a message on an unknown one."""
    names = sorted(filter(None, known))
    others = f" and {len(names) - MOST_NAMED} others" if len(names) > MOST_NAMED else ""
    return f"; known: {', '.join(names[:MOST_NAMED])}{others}{suggest_name(name, names)}"


LONGEST_NAME = 64
"""Bytes of a name, as a file name has 255 at most, and that of a log holds three names."""


def check_file_name(name: str) -> str:
    """The name. Raises `ValueError` if it cannot be a part of file names."""
    if not re.fullmatch(r"[\w-]+", name):
        raise ValueError(f"{name!r} is also a file name; use only letters, digits, _ and -")
    if len(name.encode()) > LONGEST_NAME:
        raise ValueError(f"{name!r} is also a part of file names; write at most {LONGEST_NAME} bytes")
    return name


FileName = Annotated[str, AfterValidator(check_file_name)]
"""A name that is a part of file names."""


_UNPRINTED = {"Cc", "Zl", "Zp", "Cs"}
"""Unicode's categories of control characters, line breaks, and halves of characters."""


def _check_title(text: str) -> str:
    if not text.strip():
        raise ValueError("a title is empty; write what tables are to print")
    found = [character for character in text if unicodedata.category(character) in _UNPRINTED]
    if found:
        raise ValueError(f"{text!r} holds a line break or control character, {found[0]!r}; write it in one line")
    return text


Title = Annotated[str, Field(min_length=1), AfterValidator(_check_title)]
"""One line of text that tables, pages and pictures print; each escapes it in its own way."""


def check_known_names(where: str, names: Iterable[str], those: Iterable[Any]) -> None:
    """Raises `ValueError` that names the path of the first unknown name. The name "" stands for null."""
    there = list(those)
    for name in names:
        if name not in there:
            none = "; none is written as null" if name.lower() == "none" and "" in there else ""
            raise ValueError(f"{where}: no {name!r}{list_known_names(name, there)}{none}")


def type_validator(by: str, types: Mapping[str, type[Strict]]) -> BeforeValidator:
    """Validates a field as the one of `types` that the entry's earlier field `by` names."""

    def validate_value(value: Any, info: ValidationInfo) -> Strict:
        kind = types.get(info.data[by]) if by in info.data else None
        # A wrong name is an error of the other field; without it this one cannot be checked.
        return Strict() if kind is None else kind.model_validate(value)

    return BeforeValidator(validate_value)


Entry = TypeVar("Entry", bound=BaseModel)

_KEY = re.compile(r"([\w.]+): (.*)", re.DOTALL)
_MARK = re.compile(r"\[\w+\]")
"""Parts of paths that are not keys: pydantic's for kinds of mistakes, and a project's for kinds of entries."""
_NUMBERS = ("int_type", "float_type")
_TEXTS = ("string_type", "literal_error")
_INSTEAD_OF_OTHERS = "; text that YAML reads as a number, a date, true or false (yes, no, on, off) needs quotes"


def validate(model: type[Entry], values: Any, where: str) -> Entry:
    """Validates `values` as `model`. Raises `InputError` that lists each wrong key with its path."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise validation_error(where, [error_line(path, message) for path, message in wrong_keys(error)]) from None


def error_line(path: Sequence[str], message: str) -> str:
    """A wrong key's line in the list of an error."""
    return f"{'.'.join(path) or '(top)'}: {message}"


def wrong_keys(error: ValidationError) -> Iterator[tuple[list[str], str]]:
    """Path and message of each wrong key. A validator's message begins with its key and a colon."""
    for found in error.errors():
        path = [str(part) for part in found["loc"] if not _MARK.fullmatch(str(part))]
        message = found["msg"].removeprefix("Value error, ")
        if found["type"] != "value_error" and isinstance(found["input"], str | int | float):
            message += f", not {found['input']!r}"
        if found["type"] in _TEXTS and isinstance(found["input"], bool | int | float | date):
            message += _INSTEAD_OF_OTHERS
        if found["type"] in _NUMBERS and isinstance(found["input"], str):
            message += _number_advice(found["input"])
        named = _KEY.fullmatch(message) if found["type"] == "value_error" else None
        yield ([*path, *named[1].split(".")], named[2]) if named else (path, message)


def _number_advice(text: str) -> str:
    """Advice if text is in the place of a number, as YAML reads 1e-4; empty if the text is no number."""
    try:
        number = float(text)
    except ValueError:
        return ""
    import yaml  # such text comes from a YAML file

    if isinstance(yaml.safe_load(text), str):
        written = yaml.safe_dump(int(number) if number.is_integer() else number).split()[0]
        return f", which is text in YAML; write {written}"
    return ", which is text; write it without quotes, and in a file (nested values of --config are all text)"


def validation_error(where: str, wrong: Sequence[str]) -> InputError:
    """The error that lists all mistakes, one line for each key."""
    lines = "\n".join(f"  {line}" for line in dict.fromkeys(wrong))
    return InputError(f"{where} is not valid; correct these keys:\n{lines}")
