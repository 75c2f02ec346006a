"""The public names are those of docs/api.md, with the same signatures, columns and keys."""

import inspect
import re
from importlib import import_module
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

import densevse

PAGE = (Path(__file__).parents[1] / "docs/api.md").read_text()
ROW = re.compile(r"^\| `((?:densevse|snakeproof)[\w.]+)` \| `([\w.]+)` \| `(.+?)` \| (.+) \|$", re.MULTILINE)
COLUMNS = re.compile(r"^\| `([A-Z_]+)` \| `(densevse[\w.]+)` \| (.+) \|$", re.MULTILINE)
KEYS = re.compile(r"^\| `(image_of_sentence|relevant)`.* \| (.+) \|$", re.MULTILINE)
PUBLIC = {(module, name): signature.replace(r"\|", "|") for module, name, signature, _ in ROW.findall(PAGE)}
ALIASES = {str(DTypeLike): "DTypeLike", str(ArrayLike): "ArrayLike", str(ArrayLike | None): "ArrayLike | None"}
ARRAY = re.compile(r"numpy\.ndarray\[tuple\[typing\.Any, \.\.\.\], numpy\.dtype\[([\w.]+)\]\]")


def short(annotation: Any) -> str:
    """A type without the modules that its names are of."""
    text = ALIASES.get(str(annotation)) or inspect.formatannotation(annotation)
    return re.sub(r"\b[a-z_]\w*(\.[a-z_]\w*)*\.(?=[\w])", "", ARRAY.sub(r"NDArray[\1]", text))


def signature_of(value: Any) -> str:
    """A signature as the page gives it."""
    signature = inspect.signature(value)
    parameters = [parameter for name, parameter in signature.parameters.items() if name != "self"]
    written = [written_as(parameter) for parameter in parameters]
    kinds = [parameter.kind for parameter in parameters]
    if inspect.Parameter.KEYWORD_ONLY in kinds:
        written.insert(kinds.index(inspect.Parameter.KEYWORD_ONLY), "*")
    gives = "" if inspect.isclass(value) else f" -> {short(signature.return_annotation)}"
    return f"({', '.join(written)}){gives}"


def written_as(parameter: inspect.Parameter) -> str:
    """A parameter with its type and its default."""
    star = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}: {short(parameter.annotation)}{default}"


def test_public_names_have_the_signatures_of_the_page_and_docstrings():
    values = {key: attrgetter(key[1])(import_module(key[0])) for key in PUBLIC}
    assert {key: signature_of(value) for key, value in values.items()} == PUBLIC, "write these in docs/api.md"
    assert [key for key, value in values.items() if not (value.__doc__ or "").strip()] == [], "no docstring"


def names_in(cell: str) -> list[str]:
    return re.findall(r"`(\w+)`", cell)


def test_columns_are_those_of_the_page():
    rows = COLUMNS.findall(PAGE)
    assert {"IMAGES", "CAPTIONS", "RETRIEVAL"} <= {name for name, _, _ in rows}
    for name, module, columns in rows:
        found = getattr(import_module(module), name).columns
        assert [column.name for column in found] == names_in(columns), f"write these columns of {name} in docs/api.md"


def test_the_keys_of_metrics_are_those_of_the_page():
    scores, answers = np.eye(2, 4), {"image_of_sentence": [0, 0, 1, 1], "relevant": np.eye(2, 4)}
    rows = dict(KEYS.findall(PAGE))
    assert rows.keys() == answers.keys()
    for name, answer in answers.items():
        assert [*densevse.evaluate(scores, **{name: answer})] == names_in(rows[name]), "write these in docs/api.md"


def test_the_page_names_what_a_researcher_imports():
    rooms = {".".join(module.split(".")[:2]) for module, _ in PUBLIC}
    assert {"densevse.artifacts", "densevse.config", "densevse.evaluation", "densevse.models"} < rooms
    assert {"densevse.methods", "densevse.statistics"} < rooms
    rows = PAGE.count("\n| `densevse") + PAGE.count("\n| `snakeproof")
    assert rows == len(PUBLIC), "a row of the page is not read"


def test_the_example_of_the_page_runs(capsys):
    *_, program = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)  # tests/inference runs the first
    (printed,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/api.md", "exec"), {})
    assert capsys.readouterr().out == printed
