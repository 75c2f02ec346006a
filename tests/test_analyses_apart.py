"""An analysis is one folder: `rm -r densevse/analyses/<name>` and its line in the Snakefile delete it."""

import re
import shutil
from pathlib import Path

import pytest

from tests.cases import first_now
from tests.projects import ROOT, Project, copy_code
from tests.rules import rules

FOLDER = ROOT / "densevse/analyses"
NAMES = sorted(path.parent.name for path in FOLDER.glob("*/__init__.py"))
READ = (".py", ".smk")


def remove(name: str, folder: Path) -> None:
    shutil.rmtree(folder / "densevse/analyses" / name)
    snakefile, line = folder / "Snakefile", f'include: f"{{ANALYSES}}/{name}/rules.smk"\n'
    text = snakefile.read_text()
    assert text.count(line) == 1
    snakefile.write_text(text.replace(line, ""))


def test_no_file_of_the_rest_names_what_an_analysis_is_made_of():
    """So that what is left can be imported, by tests too."""
    files = [file for room in ("densevse", "workflow", "tests") for file in (ROOT / room).rglob("*")]
    texts = {file: file.read_text(encoding="utf-8") for file in files if file.suffix in READ}
    for name in NAMES:
        named = re.compile(rf"\banalyses[./]{name}\b|\bdensevse\.analyses import .*\b{name}\b")
        rest = [file for file in texts if FOLDER / name not in file.parents]
        assert [str(file) for file in rest if named.search(texts[file])] == [], name


@pytest.mark.slow
@pytest.mark.parametrize("name", first_now(NAMES))
def test_the_rest_can_be_planned_without_an_analysis(name, tmp_path):
    project = Project(copy_code(tmp_path / "project"))
    project.configure({})
    remove(name, project.folder)
    planned = project.planned()
    gone = {rule.name for rule in rules().values() if rule.file.parent == FOLDER / name}
    assert gone
    assert {"train", "retrieve", "table"} <= planned.keys()
    assert gone.isdisjoint(planned)
