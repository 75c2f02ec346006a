import os

import pytest

from envs.install import merge_requirements, requirements
from tests.system.test_installation import write_wheel
from tools.locks import LOCKS, difference, write_locks

PYPROJECT = """
[project]
name = "project"
version = "1.0"
requires-python = ">=3.11"
dependencies = ["small"]
[project.optional-dependencies]
workflow = ["net"]
page = ["page"]
[dependency-groups]
tests = ["page", "small"]
cuda12 = ["net==1.0"]
[tool.uv]
no-index = true
find-links = ["wheels"]
"""


def test_a_lock_is_what_the_difference_makes_of_the_other(tmp_path):
    base = {"a": "a==1 \\\n    --hash=sha256:1\n", "b": "b==1 --hash=sha256:2\n", "c": "c==1 --hash=sha256:3\n"}
    full = {"a": base["a"], "b": "b==2 --hash=sha256:4\n", "d": "d==1 --hash=sha256:5\n"}
    for name, text in {"base.txt": "".join(base.values()), "lock.txt": difference(full, base)}.items():
        (tmp_path / name).write_text(text)
    never = {"c": "c ; python_version < '3'\n"}
    assert requirements(tmp_path / "lock.txt") == {name: full[name] for name in "bd"} | never
    (tmp_path / "merged.txt").write_text(merge_requirements([tmp_path / "base.txt", tmp_path / "lock.txt"]))
    assert requirements(tmp_path / "merged.txt") == full | never
    assert difference(base, base) == ""


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A project whose packages are wheels in a folder: `net` of two CUDAs, and `page`, which needs `small`."""
    pytest.importorskip("uv", reason="uv could not be installed on this machine")
    for name in [name for name in os.environ if name.startswith("UV_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "cache"))
    for name, version, *needs in [
        ("small", "1.0"),
        ("net", "1.0", "old_cuda"),
        ("net", "2.0", "new_cuda", "small"),
        ("old_cuda", "1.0"),
        ("new_cuda", "1.0"),
        ("page", "1.0", "small"),
    ]:
        write_wheel(tmp_path / "wheels", name, version, {}, needs)
    (tmp_path / LOCKS).mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(PYPROJECT)
    return tmp_path


def locked(project, name):
    """The lines of a lock without hashes and comments."""
    return [text.split(" \\")[0].strip() for text in requirements(project / LOCKS / f"{name}.txt").values()]


def test_locks_hold_what_requirements_do_not(project):
    write_locks(project)
    assert requirements(project / "requirements.txt").keys() == {"net", "new-cuda", "small"}
    assert locked(project, "page") == locked(project, "tests") == ["page==1.0"]
    assert locked(project, "cuda12") == ["net==1.0", "old-cuda==1.0", "new-cuda ; python_version < '3'"]
    assert {path.stem for path in (project / LOCKS).iterdir()} == {"page", "tests", "cuda12"}


def test_locks_made_again_keep_their_versions(project):
    write_locks(project)
    first = {path: path.read_text() for path in [project / "requirements.txt", *(project / LOCKS).iterdir()]}
    for name in ("small", "page", "old_cuda"):
        write_wheel(project / "wheels", name, "1.1", {})
    write_locks(project)
    assert {path: path.read_text() for path in first} == first
    (project / LOCKS / "page.txt").unlink()
    write_locks(project)
    assert locked(project, "page") == ["page==1.1"]
    assert locked(project, "tests") == ["page==1.1"]
