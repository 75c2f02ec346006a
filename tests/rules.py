"""The rules as their files define them: sections as text, and the paths of their inputs."""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakeproof.paths import Paths

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"project": ".", "results": "results", "resources": "resources"}
FOLDERS["model"] = "<results>/{dataset}/models/{variant}/seed{seed}"
HEAD = re.compile(r"^(?:rule (\w+)|use rule (\w+) as (\w+) with):\n", re.MULTILINE)
SECTION = re.compile(r"^    (\w+):(.*\n(?:(?:        .*)?\n)*)", re.MULTILINE)

TABLE_PAGES = {"markdown": ".md", "html": ".html", "latex": ".tex"}
TABLE_FILES = {"table_pages": TABLE_PAGES, "table_files": {**TABLE_PAGES, "csv": ".csv", "parquet": ".parquet"}}


@dataclass(frozen=True)
class Rule:
    """A rule, and the rule whose sections it uses unless it has its own."""

    name: str
    base: str | None
    file: Path
    sections: dict[str, str]

    def arguments(self, section: str) -> dict[str, ast.expr]:
        """The arguments of a section, by name, or by number if they have none."""
        call = ast.parse(f"f({self.sections.get(section, '')})", mode="eval").body
        assert isinstance(call, ast.Call)
        found: dict[str, ast.expr] = {str(number): value for number, value in enumerate(call.args)}
        for keyword in call.keywords:
            found |= {keyword.arg: keyword.value} if keyword.arg else _table_files(keyword.value)
        return found

    @property
    def call(self) -> str | None:
        """The function that the rule's job is, "<module>:<name>"; None for a rule without a job."""
        for line in ast.walk(self._params()):
            if isinstance(line, ast.Call) and ast.unparse(line.func) in ("calling", "calling_once"):
                return str(ast.literal_eval(line.args[0]))
        return rules()[self.base].call if self.base else None

    def _params(self) -> ast.expr:
        return ast.parse(f"f({self.sections.get('params', '')})", mode="eval").body


def _table_files(call: ast.expr) -> dict[str, ast.expr]:
    """The files that `table_files` and `table_pages` of common.smk name; nothing for other functions."""
    if not isinstance(call, ast.Call) or ast.unparse(call.func) not in TABLE_FILES:
        return {}
    path = ast.literal_eval(call.args[0])
    return {name: ast.Constant(path + ending) for name, ending in TABLE_FILES[ast.unparse(call.func)].items()}


def files() -> list[Path]:
    """The files of rules: those of the core, and those of analyses."""
    return sorted([*(ROOT / "workflow/rules").rglob("*.smk"), *(ROOT / "densevse/analyses").glob("*/rules.smk")])


@cache
def rules() -> dict[str, Rule]:
    """Every rule of the workflow by its name."""
    found = {}
    for file in files():
        _, *parts = HEAD.split(file.read_text(encoding="utf-8"))
        for own, base, derived, body in zip(*(parts[n::4] for n in range(4)), strict=True):
            sections = {section[1]: section[2] for section in SECTION.finditer(body)}
            found[own or derived] = Rule(own or derived, base, file, sections)
    return found


def input_of(rule: str, name: str, decide: Callable[..., Any], **wildcards: object) -> str | list[str]:
    """The paths of the input `name` of a rule, which its pattern becomes by what `decide`, named beside it, says."""
    filled = rules()[rule].arguments("input")[name]
    assert isinstance(filled, ast.Call), f"{rule}.{name} is always the same path"
    pattern, *functions = filled.args
    decides = [("decide", one) for one in functions] + [(str(one.arg), one.value) for one in filled.keywords]
    ((parameter, function),) = decides
    named = getattr(decide, "func", decide).__name__
    assert ast.unparse(function).rpartition(".")[2] == named, f"{rule}.{name} is filled by another function"
    given = SimpleNamespace(**{key: str(value) for key, value in wildcards.items()})
    return Paths(**FOLDERS).path(ast.literal_eval(pattern), **{parameter: decide})(given)
