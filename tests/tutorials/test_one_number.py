"""docs/one_number.md follows a number of a table back to a picture, and each step agrees with the one before."""

import re

import pytest

from tests.projects import ROOT, SMALL, Project, copy_code

TEXT = (ROOT / "docs/one_number.md").read_text(encoding="utf-8")
STEPS = re.findall(r"^## .*?(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    densevse run (\S+) --cores 2$", re.MULTILINE)
CODE = re.compile(r"`(densevse/[\w/]+\.py)`")
PROGRAM = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_each_step_has_a_command_its_code_and_a_program():
    assert len(STEPS) == 6
    for step in STEPS:
        assert len(COMMAND.findall(step)) == len(PROGRAM.findall(step)) == 1
        assert CODE.search(step)


@pytest.mark.long
def test_the_programs_follow_the_number_in_a_small_project(tmp_path, monkeypatch, capsys):
    """The last comparison is of the picture with the vector that gave the rank."""
    project = Project(copy_code(tmp_path / "project"))
    project.configure(SMALL)
    project.run(*COMMAND.findall(TEXT))
    monkeypatch.chdir(project.folder)
    names = {}
    for step in STEPS:
        exec(compile(PROGRAM.search(step)[1], "docs/one_number.md", "exec"), names)
    assert f"R@1 of {names['number']:.1f}" in capsys.readouterr().out
    assert (project.folder / "picture.png").is_file()
