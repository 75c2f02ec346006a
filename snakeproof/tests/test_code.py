import json
import os
from pathlib import Path

import pytest

from snakeproof import code
from snakeproof.code import Code, facts
from snakeproof.errors import InputError

FILES = {
    "mine/run.py": "from mine.room.first import work\n\n\ndef run(a, *, b=1, **files):\n    work(a)\n",
    "mine/another.py": "import mine.room.other\n\n\ndef run():\n    pass\n",
    "mine/room/__init__.py": '"""A room."""\n',
    "mine/room/first.py": "def work(a):\n    from mine.room import second\n    return second.x + a.depth\n",
    "mine/room/second.py": "x = 1\n",
    "mine/room/other.py": "y = 1\n",
    "mine/room/by_name.py": "z = 1\n",
    "mine/config/types.py": "class Depth:\n    depth: int = 1\n",
}
DECLARATIONS = "mine/config/"
RUN, OTHER = "mine.run:run", "mine.another:run"


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        write(tmp_path / name, text)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + len(text)))


def code_of(project: Path, kept: Path) -> Code:
    return Code(project, ["mine"], kept, DECLARATIONS)


def digests(project: Path) -> tuple[str, str]:
    found = code_of(project, project / ".snakemake/code.json")
    return found.digest(RUN), found.digest(OTHER)


def test_reaches_what_is_imported_directly_and_through_others(project):
    reached = code_of(project, project / "kept.json").reached(RUN)
    assert [Path(file).stem for file in reached] == ["__init__", "first", "second", "run"]


def test_reaches_this_package_but_not_its_example_and_tests(project):
    write(project / "mine/room/second.py", "from snakeproof import schema\nfrom snakeproof.tests import kinds\nx = 1\n")
    reached = code_of(project, project / "kept.json").reached(RUN)
    own = [file for file in reached if file.startswith("snakeproof/")]
    assert {"snakeproof/schema.py", "snakeproof/statements.py"} <= set(own)
    assert [file for file in own if file.count("/") > 1] == []


@pytest.mark.parametrize(
    "text",
    ["# A comment.\nx = 1\n", '"""A docstring."""\nx=(\n  1\n)\n', 'x = 1\n"""What x is."""\n'],
)
def test_neither_comments_nor_docstrings_nor_formatting_change_a_digest(project, text):
    before = digests(project)
    write(project / "mine/room/second.py", text)
    assert digests(project) == before


def test_an_edit_changes_the_digests_of_the_functions_that_reach_it_only(project):
    before = digests(project)
    write(project / "mine/room/second.py", "x = 2\n")
    after = digests(project)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_module_imported_by_name_is_given(project):
    kept = project / "kept.json"
    before = code_of(project, kept).digest(RUN, "mine.room.by_name")
    write(project / "mine/room/by_name.py", "z = 2\n")
    assert code_of(project, kept).digest(RUN, "mine.room.by_name") != before


def test_what_declares_the_configuration_is_no_code(project):
    write(project / "mine/room/second.py", "from mine.config.types import Depth\nx = 1\n")
    before = digests(project)
    write(project / "mine/config/types.py", "class Depth:\n    depth: int = 2\n    width: int = 3\n")
    assert digests(project) == before


def test_the_parameters_of_a_function_are_known_without_importing_it(project):
    found = code_of(project, project / "kept.json")
    assert found.parameters(RUN) == ["a", "b=", "**files"]
    with pytest.raises(ValueError, match=r"mine\.run:walk: no such function"):
        found.check("mine.run:walk")


def test_the_text_of_a_function_is_given(project):
    assert code_of(project, project / "kept.json").source(OTHER) == "def run():\n    pass"


def test_a_file_that_is_not_python_is_named(project):
    write(project / "mine/room/second.py", "x =\n")
    with pytest.raises(InputError, match=r"room/second\.py is not Python: .*\. Correct the file"):
        digests(project)


@pytest.mark.parametrize(
    ("statement", "imported"),
    [
        ("from . import near", "far.of.near"),
        ("from .near import x", "far.of.near.x"),
        ("from .. import near", "far.near"),
        ("from ..near import x", "far.near.x"),
    ],
)
def test_relative_imports_are_of_the_package(statement, imported):
    for name in ("far/of/here.py", "far/of/__init__.py"):
        assert facts(statement, name).imports == [imported]


def test_what_only_a_type_checker_reads_is_passed_over():
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from mine.room import first\n"
    assert facts(source, "mine/run.py").imports == ["typing.TYPE_CHECKING"]


def test_what_runs_beside_a_block_for_type_checkers_counts():
    source = "import typing\nif typing.TYPE_CHECKING:\n    import a\nelse:\n    from mine import {} as b\n"
    first, second = (facts(source.format(name), "mine/run.py") for name in ("one", "two"))
    assert first.imports == ["mine.one", "typing"]
    assert first.digest != second.digest


def test_a_private_folder_counts(project):
    write(project / "mine/room/second.py", "from mine._own import most\nx = 1\n")
    write(project / "mine/_own/__init__.py", "most = 1\n")
    before = digests(project)
    write(project / "mine/_own/__init__.py", "most = 2\n")
    assert digests(project)[0] != before[0]


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"by": 1, "facts": {}}'])
def test_kept_facts_that_are_damaged_are_found_again(project, damage):
    before = digests(project)
    write(project / ".snakemake/code.json", damage)
    assert digests(project) == before


def test_kept_facts_are_used(project, monkeypatch):
    before = digests(project)
    monkeypatch.setattr(code, "facts", None)  # would raise
    assert digests(project) == before


def test_an_edit_that_keeps_size_and_time_is_seen(project):
    before, path = digests(project), project / "mine/room/second.py"
    status, text = path.stat(), path.read_text()
    edited = text.translate(str.maketrans("0123456789", "1234567890"))
    assert edited != text
    path.write_text(edited)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)
    assert digests(project) != before


def test_a_copied_file_is_not_parsed_again(project, monkeypatch):
    before = digests(project)
    for path in (project / "mine").rglob("*.py"):
        content = path.read_bytes()
        path.unlink()
        path.write_bytes(content)
    monkeypatch.setattr(code, "facts", None)  # would raise
    assert digests(project) == before


def test_a_folder_that_cannot_be_written_to_is_no_error(project):
    (project / "a_file").write_text("")
    assert code_of(project, project / "a_file/kept.json").digest(RUN) == digests(project)[0]


def test_kept_facts_of_another_version_are_found_again(project):
    before = digests(project)
    kept = project / ".snakemake/code.json"
    content = json.loads(kept.read_text())
    content["by"] = [2, 7, 0, 0]
    content["facts"]["mine/room/second.py"][5] = "wrong"
    kept.write_text(json.dumps(content))
    assert digests(project) == before
