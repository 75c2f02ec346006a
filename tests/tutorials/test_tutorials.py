"""The tutorials run as they are, one after the other, in a copy of the project without results.

A block whose first line is a comment with a file's name is written to that file. A block of bash is run. A block of
text shows lines of what the block of bash before it prints; numbers may differ.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import ROOT, copy_code

FOLDER = ROOT / "docs/tutorials"
PAGES = re.findall(r"^tutorials/(\w+)$", (ROOT / "docs/index.md").read_text(encoding="utf-8"), re.MULTILINE)
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"# (\S+\.\w+)\n")
NAMED = re.compile(r"`((?:benchmarks|config|densevse|tests)/[\w/]+\.\w+)`")
NUMBER = re.compile(r"[+-]?\d+(\.\d+)?")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of the project with what a tutorial's own test compares with."""
    copy = copy_code(tmp_path_factory.mktemp("tutorials"))
    shutil.copytree(ROOT / "tests/kernels", copy / "tests/kernels", ignore=shutil.ignore_patterns("test_*"))
    shutil.copy2(ROOT / "tests/__init__.py", copy / "tests")
    return copy


@pytest.fixture(scope="module")
def environment(folder, tmp_path_factory):
    """The variables of a shell in which the copy is the installed densevse."""
    programs = tmp_path_factory.mktemp("bin")
    command = programs / "densevse"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m densevse "$@"\n')
    command.chmod(0o755)
    path = os.pathsep.join([str(programs), str(Path(sys.executable).parent), os.environ["PATH"]])
    return os.environ | {"PATH": path, "PYTHONPATH": str(folder)}


def shape(line):
    """A line without the values of its numbers and the widths of its columns."""
    return " ".join(NUMBER.sub("0", line).split())


def printed(command, folder, environment):
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", command],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-6000:]}"
    return done.stdout


@pytest.mark.long
@pytest.mark.parametrize("page", PAGES)
def test_a_tutorial_runs_as_it_stands(page, folder, environment):
    output = ""
    for language, text in BLOCK.findall((FOLDER / f"{page}.md").read_text(encoding="utf-8")):
        if language == "bash":
            output = printed(text, folder, environment)
        elif language == "text":
            missing = {shape(line) for line in text.splitlines()} - {shape(line) for line in output.splitlines()}
            assert not missing, output[-6000:]
        else:
            (folder / FILE.match(text)[1]).write_text(text)


def test_every_block_of_a_tutorial_has_a_use_and_files_that_it_names_exist_or_are_written():
    """tests/test_docs.py checks that each tutorial is a page of the site."""
    for page in PAGES:
        text = (FOLDER / f"{page}.md").read_text(encoding="utf-8")
        blocks = BLOCK.findall(text)
        assert any(language == "bash" for language, _ in blocks)
        assert not [text for language, text in blocks if language not in ("bash", "text") and not FILE.match(text)]
        written = {file[1] for _, block in blocks if (file := FILE.match(block))}
        assert not [name for name in NAMED.findall(text) if name not in written and not (ROOT / name).is_file()]
