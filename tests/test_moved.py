"""Old names: that they work, with one warning that names the new place, and cost nothing where none is used."""

import re
import subprocess
import sys
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.identity import Identity
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.dag.project import project_code
from densevse.moved import MOVED, OLD_CALLS
from snakeproof import plugins, schema, store
from snakeproof.statements import Statement
from tests import packages
from tests.projects import ROOT

MODULES = sorted(name for name in MOVED if name.rpartition(".")[0] not in MOVED)
PUBLIC = {
    "densevse.artifacts.schema": ["read", "read_all", "check", "identity"],
    "densevse.artifacts.store": ["FeatureStore", "FeatureWriter"],
    "densevse.config.strict": ["Strict"],
}
"""What docs/api.md and docs/methods.md named at 5febe9e3 by places that are old now."""


@pytest.fixture(autouse=True)
def none_is_imported():
    """Each test imports old modules anew."""
    for name in MODULES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """The facts of all files, which take a second to find."""
    return tmp_path_factory.mktemp("kept") / "kept.json"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A function that puts a package with a plug-in beside the installed ones, until the test ends."""
    monkeypatch.syspath_prepend(tmp_path)
    yield lambda files: packages.install(tmp_path, "older", files, "densevse.readers", lines="older.declared:X")
    packages.forget("older")


def found(place):
    module, _, name = place.rpartition(".")
    return getattr(import_module(module), name)


def test_each_new_name_exists():
    for name, place in {**MOVED, **OLD_CALLS}.items():
        if name in MODULES:
            import_module(place)
        else:
            found(place)


@pytest.mark.parametrize("name", MODULES)
def test_an_old_module_has_what_the_new_one_has_and_warns_once_of_its_place(name):
    new = MOVED[name]
    with pytest.warns(DeprecationWarning, match=rf"^{re.escape(f'{name} is now {new}')}(;|$)") as warned:
        old = import_module(name)
    assert len(warned) == 1
    own = {key: value for key, value in vars(import_module(new)).items() if not key.startswith("_")}
    changed = {key for key, value in own.items() if getattr(old, key) is not value}
    assert changed == {old_name.rpartition(".")[2] for old_name in OLD_CALLS if old_name.startswith(f"{name}.")}


def test_names_that_are_elsewhere_are_found_in_their_old_module_and_named_by_its_warning():
    elsewhere = {name: place for name, place in MOVED.items() if name not in MODULES}
    assert elsewhere
    for name, place in elsewhere.items():
        assert found(name) is found(place)
    sys.modules.pop("densevse.artifacts.schema")
    has = "densevse.artifacts.columns has its BOX_COLUMNS, CAPTION_ID, IMAGE_ID, SPLIT"
    with pytest.warns(DeprecationWarning, match=f"; {has}; densevse.artifacts.identity has its read_identity$"):
        import densevse.artifacts.schema  # noqa: F401


def test_public_names_of_5febe9e3_are_there():
    for module, names in PUBLIC.items():
        for name in names:
            assert callable(found(f"{module}.{name}"))


def test_everything_of_an_old_module_can_be_imported_at_once():
    names = {}
    exec("from densevse.config.strict import *", names)
    assert {"Strict", "Length", "validate"} <= names.keys()


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("import densevse.artifacts.nothing", "No module named 'densevse.artifacts.nothing'"),
        ("import densevse.artifacts.lineage", "No module named 'densevse.artifacts.lineage'"),
        ("from densevse.artifacts import nothing", r"cannot import name 'nothing' from 'densevse.artifacts' \(.*\)"),
        ("from densevse.config.strict import nothing", r"cannot import name 'nothing' from 'densevse.config.strict'.*"),
        ("import densevse.config.strict.Length", "No module named 'densevse.config.strict.Length'; .* not a package"),
    ],
)
def test_a_name_that_never_was_gets_pythons_own_message(statement, message):
    with pytest.raises(ImportError, match=f"^{message}$"):
        exec(statement)


def test_a_program_sees_the_warning_with_its_own_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text("import densevse\nfrom densevse.runtime.errors import InputError\n")
    done = subprocess.run([sys.executable, program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True)
    line = f"{program}:2: DeprecationWarning: densevse.runtime.errors is now snakeproof.errors\n"
    assert (done.returncode, done.stderr.startswith(line)) == (0, True), done.stderr


def test_the_start_imports_the_table_and_nothing_else():
    program = "import gc, importlib.machinery, sys, typing, warnings; known = {*sys.modules}; import densevse"
    command = [sys.executable, "-c", f"{program}; print(*sorted({{*sys.modules}} - known))"]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert found.split() == ["densevse", "densevse.moved"]


def test_the_project_uses_no_old_name():
    rooms = {name.rpartition(".")[0] for name in MODULES}
    inside = {room: "|".join(name.rpartition(".")[2] for name in MODULES if name.startswith(room)) for room in rooms}
    old = "|".join(rf"{room}(?:\.| import (?:\w+, )*)(?:{names})\b" for room, names in inside.items())
    folders = ("benchmarks", "densevse", "docs", "examples", "snakeproof", "tests", "tools", "workflow")
    texts = {
        str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
        for folder in folders
        for file in (ROOT / folder).rglob("*")
        if file.suffix in (".py", ".smk")
    }
    assert {name for name, text in texts.items() if re.search(old, text)} == {
        "densevse/moved.py",
        "tests/test_moved.py",
        "tests/workflow/test_older_plugin.py",
    }


@pytest.mark.parametrize("by_name", [False, True])
def test_a_writer_of_features_takes_made_from_as_what_was_found(tmp_path, by_name):
    older, path, made_from = (
        found("densevse.artifacts.store.FeatureWriter"),
        tmp_path / "a.parquet",
        {"network": "mine"},
    )
    shape = (path, IMAGE_FEATURES, (2,), "float32")
    with pytest.warns(DeprecationWarning, match="FeatureWriter has no made_from now; .*keyword arguments") as warned:
        writer = older(*shape, made_from=made_from) if by_name else older(*shape, made_from)
    assert [one.filename for one in warned] == [__file__]
    with writer:
        writer.append(pd.DataFrame({"image_id": ["a"]}), np.ones((1, 2), np.float32))
    assert store.FeatureStore([path], IMAGE_FEATURES).statement.found == made_from
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        older(*shape, network="mine")


def test_the_old_check_returns_a_statement_and_identity_reads_one(tmp_path):
    kind, path = schema.Schema("kind", "a row", (schema.Column("a", schema.TEXT, "a text"),)), tmp_path / "a.parquet"
    schema.write([{"a": "b"}], kind, path, dataset="mine", seed=1)
    assert found("densevse.artifacts.schema.check")(path, kind) == Statement(found={"dataset": "mine", "seed": 1})
    assert found("densevse.artifacts.schema.identity")(path) == Identity("mine", seed=1)


SCHEMA = "import snakeproof.schema, densevse.artifacts.columns, densevse.artifacts.identity"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("from densevse.artifacts.schema import IMAGE_ID", "from densevse.artifacts.columns import IMAGE_ID"),
        ("from densevse.artifacts.schema import Column", "import densevse.artifacts, snakeproof.schema"),
        ("from densevse.artifacts.schema import identity", "from densevse.artifacts.identity import read_identity"),
        ("from densevse.artifacts.store import FeatureWriter", "from densevse.artifacts.older import FeatureWriter"),
        ("from densevse.runtime import errors", "import densevse.runtime, snakeproof.errors"),
        ("import densevse.artifacts.schema", SCHEMA),
        ("from densevse.artifacts.schema import *", SCHEMA),
    ],
)
def test_a_digest_covers_what_an_old_name_stands_for(package, kept, old, new):
    place = package({"__init__.py": "", "declared.py": "X = 1\n"})
    reached = {}
    for text in (old, new):
        (place / "work.py").write_text(f"{text}\n")
        code = project_code(ROOT, kept, plugins.plugins("densevse.readers"))
        reached[text] = {name for name in code.reached("older.work:read") if not name.endswith("/__init__.py")}
    assert reached[old] == reached[new] > {"older/work.py"}
    assert "densevse/moved.py" not in reached[old], "another old name would make every file again"
