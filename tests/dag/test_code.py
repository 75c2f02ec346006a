import json
import os
from pathlib import Path

import pytest

from densevse.dag import code
from densevse.dag.code import Code, facts

ROOT = Path(__file__).parents[2]

FILES = {
    "workflow/scripts/run.py": "from densevse.room.first import work\nwork()\n",
    "workflow/scripts/other.py": "import densevse.room.other\n",
    "densevse/room/__init__.py": '"""A room."""\n',
    "densevse/room/first.py": "def work(a):\n    from densevse.room import second\n    return second.x + a.depth\n",
    "densevse/room/second.py": "x = 1\n",
    "densevse/room/other.py": "y = 1\n",
    "densevse/room/by_name.py": "z = 1\n",
    "densevse/config/types.py": "class Depth:\n    depth: int = 1\n",
}


@pytest.fixture
def project(tmp_path):
    for name, text in FILES.items():
        write(tmp_path / name, text)
    return tmp_path


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, ns=(0, path.stat().st_mtime_ns + len(text)))


def digests(project: Path) -> tuple[str, str]:
    found = Code(project, project / ".snakemake/code.json")
    return found.digest("run.py"), found.digest("other.py")


def test_reaches_what_is_imported_directly_and_through_others(project):
    reached = Code(project, project / "kept.json").reached("run.py")
    assert [Path(file).stem for file in reached] == ["__init__", "first", "second", "run"]


@pytest.mark.parametrize(
    "text",
    ["# A comment.\nx = 1\n", '"""A docstring."""\nx=(\n  1\n)\n', 'x = 1\n"""What x is."""\n'],
)
def test_neither_comments_nor_docstrings_nor_formatting_change_a_digest(project, text):
    before = digests(project)
    write(project / "densevse/room/second.py", text)
    assert digests(project) == before


def test_an_edit_changes_the_digests_of_the_scripts_that_reach_it_only(project):
    before = digests(project)
    write(project / "densevse/room/second.py", "x = 2\n")
    after = digests(project)
    assert after[0] != before[0]
    assert after[1] == before[1]


def test_a_module_imported_by_name_is_given(project):
    kept = project / "kept.json"
    before = Code(project, kept).digest("run.py", "densevse.room.by_name")
    write(project / "densevse/room/by_name.py", "z = 2\n")
    assert Code(project, kept).digest("run.py", "densevse.room.by_name") != before


def test_what_declares_the_configuration_is_no_code(project):
    write(project / "densevse/room/second.py", "from densevse.config.types import Depth\nx = 1\n")
    before = digests(project)
    write(project / "densevse/config/types.py", "class Depth:\n    depth: int = 2\n    width: int = 3\n")
    assert digests(project) == before


def test_names_are_those_that_the_code_may_read(project):
    names = Code(project, project / "kept.json").names("run.py")
    assert "depth" in names
    assert "width" not in names


def test_what_only_a_type_checker_reads_is_passed_over():
    source = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from densevse.room import first\n"
    assert facts(source).imports == []


@pytest.mark.parametrize("damage", ["", "[]", "{", '{"by": 1, "facts": {}}'])
def test_kept_facts_that_are_damaged_are_found_again(project, damage):
    before = digests(project)
    write(project / ".snakemake/code.json", damage)
    assert digests(project) == before


def test_kept_facts_are_used(project, monkeypatch):
    before = digests(project)
    monkeypatch.setattr(code, "facts", None)  # would raise
    assert digests(project) == before


def test_a_folder_that_cannot_be_written_to_is_no_error(project):
    (project / "a_file").write_text("")
    assert Code(project, project / "a_file/kept.json").digest("run.py") == digests(project)[0]


def test_kept_facts_of_another_version_are_found_again(project):
    before = digests(project)
    kept = project / ".snakemake/code.json"
    content = json.loads(kept.read_text())
    content["by"] = [2, 7, 0, 0]
    content["facts"]["densevse/room/second.py"][2] = "wrong"
    kept.write_text(json.dumps(content))
    assert digests(project) == before


def test_every_script_of_the_workflow_is_reached_by_a_digest():
    found = Code(ROOT, ROOT / ".snakemake/densevse-code.json")
    for script in (ROOT / "workflow/scripts").rglob("*.py"):
        name = script.relative_to(ROOT / "workflow/scripts").as_posix()
        assert f"workflow/scripts/{name}" in found.reached(name)
        assert "densevse/runtime/logs.py" in found.reached(name)


SCRIPTS = ROOT / "workflow/scripts"
# Name -> its path, where the analysis has not been deleted.
OF_ANALYSES = {
    name: [path.relative_to(SCRIPTS).with_suffix("").as_posix() for path in SCRIPTS.glob(f"analyses/*/{name}.py")]
    for name in ("score_pairs", "score_given_pairs")
}


@pytest.mark.parametrize(
    ("module", "scripts"),
    [
        ("densevse/inference/ensembles.py", {"retrieve_by_ensemble"}),
        (
            "densevse/inference/retrieval.py",
            {"retrieve", "retrieve_by_ensemble", *OF_ANALYSES["score_pairs"], *OF_ANALYSES["score_given_pairs"]},
        ),
        (
            "densevse/training/driver.py",
            {"train", "train_generator", "train_concept_head", "train_concept_network", "train_network"},
        ),
    ],
)
def test_an_edit_of_a_module_reaches_the_scripts_that_use_it_and_no_others(module, scripts):
    found = Code(ROOT, ROOT / ".snakemake/densevse-code.json")
    paths = sorted((ROOT / "workflow/scripts").rglob("*.py"))
    names = [path.relative_to(ROOT / "workflow/scripts").as_posix() for path in paths]
    assert {name.removesuffix(".py") for name in names if module in found.reached(name)} == scripts
