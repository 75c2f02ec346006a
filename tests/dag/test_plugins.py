"""Plug-ins of installed packages: their names and their errors; snakeproof/tests has those of the code's digests."""

import pytest

from densevse.config import environment, groups
from densevse.config.registries import Registry
from densevse.dag.project import Project
from snakeproof.errors import InputError
from tests import packages
from tests.projects import ROOT

GROUP = groups.READERS
PACKAGE = {"__init__.py": "", "declared.py": "FOUND = 1\n", "broken.py": "import no_such_module\n"}


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
    assert colours.listed_names == ["green", "red"]
    assert colours["green"] == 1


def test_a_name_that_is_taken_is_refused_with_both(install, colours):
    install("palette", PACKAGE, red="palette.declared:FOUND", blue="palette.declared:FOUND")
    install("easel", {}, blue="easel:FOUND")
    colours.add_plugins(GROUP)
    assert colours.listed_names == ["blue", "red"]
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


def test_watchers_are_checked(monkeypatch):
    assert Project(ROOT, {"logging": {"tensorboard": True}}).config.watchers == ["tensorboard"]
    assert Project(ROOT, {"logging": {"tensorboard": False}}).config.watchers == []
    with pytest.raises(InputError, match="logging: no 'tensorbord'; known: tensorboard; is 'tensorboard' meant"):
        Project(ROOT, {"logging": {"tensorbord": True}})
    monkeypatch.setattr(environment, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"logging\.tensorboard needs tensorboard, .*envs/locks/tensorboard\.txt"):
        environment.check_watchers(["tensorboard"])
