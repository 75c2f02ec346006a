"""Types of a configuration: each wrong key is named by its path, with what was meant."""

from typing import Annotated, ClassVar

import pytest

from snakeproof.errors import InputError
from snakeproof.strict import FileName, Strict, Title, check_known_names, type_validator, validate


class Phase(Strict):
    RENAMED: ClassVar = {"passes": "epochs"}
    epochs: int = 1
    rate: float = 0.1


class Plan(Strict):
    title: Title = "Plan"
    name: FileName = "plan"
    phases: dict[str, Phase] = {}  # noqa: RUF012, pydantic copies it


class Entry(Strict):
    kind: str
    options: Annotated[Strict, type_validator("kind", {"phase": Phase, "plan": Plan})]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"phases": {"main": {"epochs": 2}}}, None),
        ({"titel": "x"}, "titel: there is no such key; is 'title' meant?"),
        ({"phases": {"main": {"passes": 2}}}, "phases.main.passes: this key is now epochs"),
        ({"phases": {"main": {"epochs": "2"}}}, "phases.main.epochs: Input should be a valid integer, not '2', which"),
        ({"phases": {"main": {"rate": "1e-4"}}}, "not '1e-4', which is text in YAML; write 0.0001"),
        ({"title": True}, "yes, no, on, off) needs quotes"),
        ({"title": "two\nlines"}, "title: 'two\\nlines' holds a line break or control character"),
        ({"title": " "}, "title: a title is empty"),
        ({"name": "a/b"}, "name: 'a/b' is also a file name"),
        ({"name": "x" * 65}, "write at most 64 bytes"),
    ],
)
def test_a_wrong_key_is_named_with_what_to_write(values, message):
    if message is None:
        assert validate(Plan, values, "plan.yaml").phases["main"].epochs == 2
        return
    with pytest.raises(InputError) as raised:
        validate(Plan, values, "plan.yaml")
    assert str(raised.value).startswith("plan.yaml is not valid; correct these keys:\n  ")
    assert message in str(raised.value)


def test_all_wrong_keys_are_in_one_error():
    with pytest.raises(InputError, match=r"(?s)phases\.main\.epochs: .*\n  phases\.main\.rate: "):
        validate(Plan, {"phases": {"main": {"epochs": 1.5, "rate": None}}}, "plan.yaml")


def test_an_unknown_name_is_answered_with_the_known_ones():
    check_known_names("parser", ["grammar"], ["grammar", "other"])
    with pytest.raises(ValueError, match="parser: no 'gramar'; known: grammar, other; is 'grammar' meant"):
        check_known_names("parser", ["gramar"], ["grammar", "other"])


def test_an_entry_is_of_the_type_that_its_kind_names():
    assert validate(Entry, {"kind": "phase", "options": {"epochs": 3}}, "entry").options == Phase(epochs=3)
    with pytest.raises(InputError, match=r"options\.epoch: there is no such key; is 'epochs' meant"):
        validate(Entry, {"kind": "phase", "options": {"epoch": 3}}, "entry")
