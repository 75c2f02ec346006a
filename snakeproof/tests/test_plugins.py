"""Plug-ins of installed packages: digests reach their code, and those that cannot be imported are named."""

import importlib
import sys

import pytest

from snakeproof import plugins
from snakeproof.code import Code
from snakeproof.errors import InputError

GROUP = "mine.colours"
PACKAGE = {
    "__init__.py": "",
    "declared.py": "FOUND = 1\n",
    "work.py": "from . import helper\nfrom crayons.declared import FOUND\n",
    "helper.py": "x = 1\n",
    "other.py": "y = 1\n",
    "broken.py": "import no_such_module\n",
}


@pytest.fixture
def install(tmp_path, monkeypatch):
    """A function that installs a package `crayons` with the plug-in `green` until the test ends."""
    folder = tmp_path / "installed"
    described = folder / "crayons_of_mine-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: crayons-of-mine\nVersion: 1.0\n")

    def written(green, files):
        (described / "entry_points.txt").write_text(f"[{GROUP}]\ngreen = {green}\n")
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(text)
        importlib.invalidate_caches()  # a folder that was listed in the same moment would seem not to have it
        plugins._read_entry_points.cache_clear()
        return folder

    monkeypatch.syspath_prepend(folder)
    yield written
    plugins._read_entry_points.cache_clear()
    for module in [module for module in sys.modules if module.split(".")[0] == "crayons"]:
        del sys.modules[module]


@pytest.fixture
def crayons(install):
    return install("crayons.declared:FOUND", {f"crayons/{name}": text for name, text in PACKAGE.items()}) / "crayons"


@pytest.fixture
def code(tmp_path):
    """A function that reads the code of a project and of its plug-ins."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/run.py").write_text("def run():\n    pass\n")
    return lambda: Code(tmp_path, ["mine"], tmp_path / "kept.json", plugins=plugins.plugins(GROUP))


@pytest.mark.parametrize(
    ("file", "text", "changes"),
    [
        ("helper.py", "x = 2\n", True),
        ("helper.py", "# The same.\nx = 1\n", False),
        ("declared.py", "FOUND = 2\n", False),
        ("other.py", "y = 2\n", False),
    ],
)
def test_an_edit_of_what_an_implementation_reaches_changes_digests(crayons, code, file, text, changes):
    before = code().digest("mine.run:run", "crayons.work")
    (crayons / file).write_text(text)
    assert (code().digest("mine.run:run", "crayons.work") != before) == changes


def test_one_module_may_be_a_package(install, code):
    install("crayons:FOUND", {"crayons.py": "FOUND = 1\n"})
    assert "crayons.py" in code().reached("mine.run:run", "crayons")


def test_an_implementation_that_does_not_exist_is_refused(crayons, code):
    with pytest.raises(InputError, match=r"crayons\.lost: neither mine nor a package with a plug-in has this"):
        code().digest("mine.run:run", "crayons.lost")


def test_a_package_that_cannot_be_imported_is_named(install):
    install("crayons.broken:FOUND", {f"crayons/{name}": text for name, text in PACKAGE.items()})
    (found,) = plugins.plugins(GROUP)
    message = r"the package crayons-of-mine 1\.0 \(mine\.colours: green = .*\) cannot be imported: ModuleNotFoundError"
    with pytest.raises(InputError, match=message):
        found.load()


@pytest.mark.parametrize(
    ("value", "text", "said"),
    [
        ("", "", "names no module"),
        ("crayons.declared:FOUND", "raise SystemExit(3)\n", "cannot be imported: SystemExit: 3"),
        (
            "crayons.declared:FOUND",
            "import sys\nsys.exit('no licence')\n",
            "cannot be imported: SystemExit: no licence",
        ),
        ("not a module:x", "", "cannot be imported"),
    ],
)
def test_an_entry_that_cannot_be_loaded_names_its_package(install, value, text, said):
    install(value, {"crayons/__init__.py": "", "crayons/declared.py": text})
    (plugin,) = plugins.plugins(GROUP)
    with pytest.raises(InputError, match=rf"the package crayons-of-mine 1\.0 \(mine\.colours: green = .*{said}"):
        plugin.load()


def test_an_entry_without_a_value_names_its_package(install):
    folder = install("crayons.declared:FOUND", {})
    (folder / "crayons_of_mine-1.0.dist-info/entry_points.txt").write_text(f"[{GROUP}]\ngreen\n")
    with pytest.raises(InputError, match=r"the package crayons-of-mine 1\.0: its entry points cannot be read"):
        plugins.plugins(GROUP)
