"""Each analysis can be deleted: its folders, its files, and its line in the Snakefile."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cases import first_now
from tests.projects import ROOT, Project, copy_code
from tests.rules import rules

NAMES = sorted(path.parent.name for path in (ROOT / "densevse/analyses").glob("*/__init__.py"))
SUBCOMMANDS = {"searches": ["densevse/command/subcommands/search.py", "tests/command/test_search.py"]}
EVERY = pytest.mark.parametrize("name", NAMES)
READ = (".py", ".smk")


def parts(name: str) -> list[str]:
    """The parts of an analysis, below the project's folder; not every analysis has all of them."""
    return [
        f"densevse/analyses/{name}",
        f"workflow/rules/analyses/{name}.smk",
        f"workflow/scripts/analyses/{name}",
        f"config/analyses/{name}.yaml",
        f"config/{name}",
        f"tests/analyses/{name}",
        *SUBCOMMANDS.get(name, []),
    ]


def remove(name: str, folder: Path) -> None:
    for part in parts(name):
        path = folder / part
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    snakefile, line = folder / "Snakefile", f'include: "workflow/rules/analyses/{name}.smk"\n'
    text = snakefile.read_text()
    assert text.count(line) == 1
    snakefile.write_text(text.replace(line, ""))


@EVERY
def test_no_file_of_the_rest_names_what_an_analysis_is_made_of(name):
    """So that what is left can be imported, by tests too."""
    named = re.compile(rf"\banalyses[./]{name}\b|\bdensevse\.analyses import .*\b{name}\b")
    own = {ROOT / part for part in parts(name)}
    files = [file for room in ("densevse", "workflow", "tests") for file in (ROOT / room).rglob("*")]
    rest = [file for file in files if file.suffix in READ and own.isdisjoint([file, *file.parents])]
    assert [str(file) for file in rest if named.search(file.read_text(encoding="utf-8"))] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", first_now(NAMES))
def test_the_rest_can_be_planned_without_an_analysis(name, tmp_path):
    project = Project(copy_code(tmp_path / "project"))
    project.configure({})
    remove(name, project.folder)
    planned = project.planned()
    gone = {rule.name for rule in rules().values() if rule.file.stem == name and rule.file.parent.name == "analyses"}
    assert {"train", "retrieve", "table"} <= planned.keys()
    assert gone.isdisjoint(planned)
