"""The public names are those of docs/api.md, with the signatures that stand there."""

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from numpy.typing import ArrayLike, DTypeLike

PAGE = (Path(__file__).parents[1] / "docs/api.md").read_text()
ROW = re.compile(r"^\| `(densevse[\w.]+)` \| `(.+?)` \| (.+) \|$", re.MULTILINE)
PUBLIC = {name: signature.replace(r"\|", "|") for name, signature, _ in ROW.findall(PAGE)}
ALIASES = {str(DTypeLike): "DTypeLike", str(ArrayLike): "ArrayLike"}
ARRAY = re.compile(r"numpy\.ndarray\[tuple\[typing\.Any, \.\.\.\], numpy\.dtype\[([\w.]+)\]\]")


def found(name: str) -> Any:
    """What a dotted name stands for: something in a module, or in a class in one."""
    parts = name.split(".")
    modules = [part for part in parts if part == part.lower()]
    for count in range(len(modules), 1, -1):
        try:
            value = import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise AssertionError(f"{name} is in no module")


def short(annotation: Any) -> str:
    """A type without the modules that its names are of."""
    text = ALIASES.get(str(annotation)) or inspect.formatannotation(annotation)
    return re.sub(r"\b[a-z_]\w*(\.[a-z_]\w*)*\.(?=[\w])", "", ARRAY.sub(r"NDArray[\1]", text))


def signature_of(value: Any) -> str:
    """A signature as the page gives it."""
    signature = inspect.signature(value)
    written = [written_as(parameter) for name, parameter in signature.parameters.items() if name != "self"]
    gives = "" if inspect.isclass(value) else f" -> {short(signature.return_annotation)}"
    return f"({', '.join(written)}){gives}"


def written_as(parameter: inspect.Parameter) -> str:
    """A parameter with its type and its default."""
    star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
    default = "" if parameter.default is inspect.Parameter.empty else f" = {parameter.default!r}"
    return f"{star}{parameter.name}: {short(parameter.annotation)}{default}"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_has_the_signature_of_the_page(name):
    assert PUBLIC[name] == signature_of(found(name)), f"write this signature of {name} in docs/api.md"


@pytest.mark.parametrize("name", PUBLIC)
def test_a_public_name_is_explained_where_it_is_defined(name):
    assert (found(name).__doc__ or "").strip(), f"{name} has no docstring"


def test_the_page_names_what_a_researcher_imports():
    rooms = {".".join(name.split(".")[:2]) for name in PUBLIC}
    assert {"densevse.artifacts", "densevse.config", "densevse.evaluation", "densevse.inference"} < rooms
    assert {"densevse.methods", "densevse.statistics"} < rooms
    assert PAGE.count("| `densevse") == len(PUBLIC), "a row of the page is not read"


def test_the_example_of_the_page_runs(capsys):
    (program,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (printed,) = re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(program, "docs/api.md", "exec"), {})
    assert capsys.readouterr().out == printed
