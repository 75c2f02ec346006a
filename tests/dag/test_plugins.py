"""Plug-ins of installed packages: their names, their errors, and the digests of their code."""

from pathlib import Path

import pytest

from densevse.config import environment, groups
from densevse.config.registries import Registry
from densevse.dag.project import Project, code_of
from snakeproof import plugins
from snakeproof.errors import InputError
from tests import packages
from tests.projects import ROOT

GROUP = groups.READERS
CALL = "densevse.datasets.readers:write_dataset"
PACKAGE = {
    "__init__.py": "",
    "declared.py": "FOUND = 1\n",
    "work.py": "from . import helper\nfrom palette.declared import FOUND\n",
    "helper.py": "x = 1\n",
    "other.py": "y = 1\n",
    "broken.py": "import no_such_module\n",
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that puts a package with entry points beside the installed ones, until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda name, files, **entries: packages.install(tmp_path, name, files, GROUP, **entries)
    packages.forget("palette")


@pytest.fixture
def colours():
    return Registry("colour", {"red": 1})


def test_a_plugin_is_an_entry(install, colours):
    install("palette", PACKAGE, green="palette.declared:FOUND")
    colours.add_plugins(GROUP)
    assert colours.named == ["green", "red"]
    assert colours["green"] == 1


def test_a_name_that_is_taken_is_refused_with_both(install, colours):
    install("palette", PACKAGE, red="palette.declared:FOUND", blue="palette.declared:FOUND")
    install("easel", {}, blue="easel:FOUND")
    colours.add_plugins(GROUP)
    assert colours.named == ["blue", "red"]
    with pytest.raises(InputError, match=r"palette-of-mine 1\.0 .*there is a colour 'red' in densevse already; rename"):
        colours["red"]
    with pytest.raises(InputError, match=r"palette-of-mine 1\.0 .*a colour 'blue' in the package easel-of-mine 1\.0"):
        colours.check("blue")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("palette.broken:FOUND", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("palette.declared:LOST", "AttributeError: .*LOST"),
    ],
)
def test_a_package_that_cannot_be_imported_is_named(install, colours, value, reason):
    install("palette", PACKAGE, green=value)
    colours.add_plugins(GROUP)
    message = rf"the package palette-of-mine 1\.0 \({GROUP}: green = {value}\) cannot be imported: {reason}"
    with pytest.raises(InputError, match=message):
        colours["green"]


def digest(folder: Path) -> str:
    return code_of(ROOT, folder / "kept.json", plugins.plugins(GROUP)).digest(CALL, "palette.work")


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("helper.py", "x = 2\n", True),
        ("helper.py", "# The same.\nx = 1\n", False),
        ("declared.py", "FOUND = 2\n", False),
        ("other.py", "y = 2\n", False),
    ],
)
def test_an_edit_of_what_an_implementation_reaches_changes_digests(install, tmp_path, file, text, changes):
    folder = install("palette", PACKAGE, green="palette.declared:FOUND")
    before = digest(tmp_path)
    (folder / file).write_text(text)
    assert (digest(tmp_path) != before) == changes


def test_one_module_may_be_a_package(install, tmp_path):
    install("palette", {}, green="palette:FOUND").rmdir()
    (tmp_path / "palette.py").write_text("FOUND = 1\n")
    code = code_of(ROOT, tmp_path / "kept.json", plugins.plugins(GROUP))
    assert "palette.py" in code.reached(CALL, "palette")


def test_an_implementation_that_does_not_exist_is_refused(install, tmp_path):
    install("palette", PACKAGE, green="palette.declared:FOUND")
    code = code_of(ROOT, tmp_path / "kept.json", plugins.plugins(GROUP))
    with pytest.raises(InputError, match=r"palette\.lost: neither densevse nor a package with a plug-in has this"):
        code.digest(CALL, "palette.lost")


def test_watchers_are_checked(monkeypatch):
    assert Project(ROOT, {"logging": {"tensorboard": True}}).config.watchers == ["tensorboard"]
    assert Project(ROOT, {"logging": {"tensorboard": False}}).config.watchers == []
    with pytest.raises(InputError, match="logging: no 'tensorbord'; known: tensorboard; is 'tensorboard' meant"):
        Project(ROOT, {"logging": {"tensorbord": True}})
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"logging\.tensorboard needs tensorboard, .*densevse\[tensorboard\]"):
        environment.check_watchers(["tensorboard"])
