import os
import re
import runpy
import shutil
import subprocess
import sys
import tomllib

import pytest
from packaging.markers import Marker
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from densevse.runtime import project
from densevse.runtime.project import describe_installation, installed_copy
from tools.environments import ROOT, environments, pinned_versions
from tools.locks import LOCKS, NEVER, lock_options

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
INSTALL = runpy.run_path(str(ROOT / "envs/install.py"))
CHECK_COPIES = runpy.run_path(str(ROOT / "envs/command.py"))["check_copies"]


def test_conda_environments_have_the_pinned_versions():
    versions = pinned_versions()
    found = environments()
    assert {path.stem for path in found} == {"base", "torch", "corenlp"}
    for path, packages in found.items():
        assert packages, path
        for name, version in packages.items():
            assert versions[name] == version, f"{path.name}: {name}"


EXTRAS, GROUPS = PYPROJECT["project"]["optional-dependencies"], PYPROJECT["dependency-groups"]
RUNNING = [*PYPROJECT["project"]["dependencies"], *EXTRAS["workflow"]]
BASE = INSTALL["requirements"](ROOT / "requirements.txt")


def of_lock(name):
    """Package -> what the file of an extra or a group in envs/locks/ requires of it."""
    return INSTALL["requirements"](ROOT / LOCKS / f"{name}.txt")


def added(name):
    """Package -> version, in the file of an extra or a group."""
    return pinned_versions(f"{LOCKS}/{name}.txt")


def test_what_pyproject_names_is_pinned():
    needed = {name: RUNNING + (EXTRAS | GROUPS)[name] for name in lock_options()}
    wrong = [
        f"{name}: {requirement}"
        for name, requirements in needed.items()
        for requirement in map(Requirement, requirements)
        if (pinned_versions() | added(name)).get(canonicalize_name(requirement.name), "") not in requirement.specifier
    ]
    assert wrong == [], "`make lock`"


def test_one_lock_is_in_the_root():
    hashed = [path.name for path in ROOT.glob("*.txt") if "--hash=" in path.read_text()]
    assert [*hashed, *(path.name for path in ROOT.glob("*.lock"))] == ["requirements.txt"]
    assert {path.name for path in (ROOT / LOCKS).iterdir()} == {f"{name}.txt" for name in lock_options()}


@pytest.mark.parametrize("name", sorted(lock_options().keys() - {"cuda12"}))
def test_a_lock_repeats_no_line_of_requirements(name):
    assert not set("".join(of_lock(name).values()).splitlines()) & set("".join(BASE.values()).splitlines())
    assert not of_lock(name).keys() & BASE.keys(), "it would replace what an environment with another CUDA has"


def test_the_lock_of_another_cuda_repeats_no_package_of_requirements():
    assert not of_lock("cuda12").items() & BASE.items()


@pytest.mark.parametrize("extra", ["eccv-caption", "networks", "encoders", "onnx", "serve", "tensorboard", "heic"])
def test_the_environment_of_tests_has_the_extras_of_tables(extra):
    assert set(EXTRAS[extra]) <= set(GROUPS["dev"]), "a table that needs it would be made by no test"


@pytest.mark.parametrize(
    ("extra", "packages"),
    [
        ("slurm", {"snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"}),
        ("eccv-caption", {"eccv-caption"}),
        ("onnx", {"ml-dtypes", "onnx", "onnx-ir", "onnxscript"}),
        ("serve", {"werkzeug"}),
        ("tensorboard", {"absl-py", "grpcio", "markdown", "tensorboard", "tensorboard-data-server", "werkzeug"}),
        ("heic", {"pillow-heif"}),
        (
            "encoders",
            {"annotated-doc", "markdown-it-py", "mdurl", "rich", "sentence-transformers", "shellingham", "tokenizers"}
            | {"transformers", "typer"},
        ),
        ("networks", {"timm", "open-clip-torch", "ftfy", "wcwidth", "tokenizers"}),
    ],
)
def test_nothing_but_itself_is_added_by_an_extra(extra, packages):
    assert added(extra).keys() == packages


def test_any_two_extras_and_groups_need_the_same_versions():
    """Tests of buckets run with what storage pins, too."""
    found = {}
    for name in lock_options().keys() - {"cuda12"}:
        for package, version in added(name).items():
            found.setdefault(package, set()).add(version)
    assert {package: versions for package, versions in found.items() if len(versions) > 1} == {}


def test_what_developing_needs_is_apart():
    running = pinned_versions()
    assert not {"pytest", "moto", "ruff", "mypy", "snakefmt", "hypothesis", "torchmetrics"} & running.keys()


def of_torch(name):
    return name in {"torch", "torchvision", "triton"} or name.startswith(("nvidia-", "cuda-"))


def test_another_cuda_changes_nothing_but_torch_and_what_it_pins():
    # Another torch may want a package on other machines (the marker), but in no other version and with no other hash.
    marker = re.compile(r" ;.*(?= \\)")
    others = {name: text for name, text in of_lock("cuda12").items() if not of_torch(name)}
    assert [name for name in others if marker.sub("", others[name]) != marker.sub("", BASE[name])] == []


def test_each_cuda_has_its_own_packages_and_none_of_the_other():
    first = set(filter(of_torch, pinned_versions()))
    second = set(filter(of_torch, added("cuda12")))
    assert {"nvidia-cudnn-cu13", "torch", "torchvision"} <= first
    assert {"nvidia-cudnn-cu12", "torch", "torchvision"} <= second
    assert not [name for name in second if name.endswith("-cu13")]
    without = [name for name, text in of_lock("cuda12").items() if text == f"{name} ; {NEVER}\n"]
    assert first - second == set(without), "CUDA 12 would be installed beside 13"
    assert not Marker(NEVER).evaluate()


def make(*arguments, folder=ROOT, **variables):
    """The output of `make --dry-run`: its commands and messages."""
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "environment", *arguments],
        cwd=folder,
        env=os.environ | variables,
        capture_output=True,
        text=True,
    )
    return done.stdout + done.stderr


def test_make_installs_the_lock_that_is_named_and_keeps_to_it(tmp_path):
    (tmp_path / LOCKS).mkdir(parents=True)
    for file in ("Makefile", "requirements.txt", LOCKS / "uv.txt", LOCKS / "cuda12.txt", "envs/command.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    assert "envs/install.py requirements.txt\n" in make(folder=tmp_path)
    assert "envs/install.py requirements.txt\n" in make(folder=tmp_path, CUDA="/usr/local/cuda")
    assert "venv --clear .venv" in make("CUDA=12", folder=tmp_path)
    assert "locked files for 12 and 13" in make("CUDA=11", folder=tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/cuda").write_text("12\n")
    text = make(folder=tmp_path)
    assert "envs/install.py requirements.txt envs/locks/cuda12.txt\n" in text
    assert "--clear" not in text
    assert "venv --clear .venv" in make("CUDA=13", folder=tmp_path)


@pytest.mark.parametrize(
    ("target", "names"),
    [
        ("developing", ["dev"]),
        ("cluster", ["slurm"]),
        ("storage", ["storage"]),
        ("kubernetes", ["kubernetes"]),
        (".venv/bucket", ["storage", "bucket"]),
    ],
)
def test_further_packages_replace_none_of_the_environment(target, names):
    """One made with CUDA=12 has another torch than requirements.txt."""
    _, *further = re.findall(r"envs/install\.py (.+)", make(target))
    assert further == [f"envs/locks/{name}.txt" for name in names]


def test_requirements_name_no_index_and_hash_each_package():
    texts = {str(path): path.read_text() for path in [ROOT / "requirements.txt", *(ROOT / LOCKS).iterdir()]}
    assert [name for name, text in texts.items() if "--index" in text or "://" in text] == []
    assert [name for name, text in texts.items() if text.count("--hash=sha256:") <= len(pinned_versions(name))] == []


def test_the_message_of_a_missing_extra_copies_nothing_into_a_checkout(monkeypatch, tmp_path):
    said = {extra: describe_installation("module", extra) for extra in ("serve", "mcg", "workflow,networks")}
    assert said == {
        "serve": f"Install it with `.venv/bin/python envs/install.py envs/locks/serve.txt` in {ROOT}.",
        "mcg": f"Install it with `.venv/bin/pip install module` in {ROOT}.",
        "workflow,networks": f"Run `make environment` in {ROOT}.",
    }
    monkeypatch.setattr(project, "PACKAGE", tmp_path)
    (tmp_path / "_project").mkdir()
    assert describe_installation("module", "workflow,networks").endswith("`pip install '.[workflow,networks]'`.")


def test_an_installed_copy_is_told_in_a_checkout(monkeypatch, tmp_path):
    assert installed_copy(ROOT) == ""
    monkeypatch.setattr(project, "PACKAGE", tmp_path / "site/densevse")
    (tmp_path / "site/densevse/_project").mkdir(parents=True)
    assert installed_copy(tmp_path) == "", "a folder that is no checkout"
    said = installed_copy(ROOT)
    assert f"the command is of the copy in {tmp_path / 'site/densevse'}: edits here have no effect" in said
    assert f"-m pip uninstall densevse`, then `{sys.executable} envs/command.py` here." in said


def test_make_environment_stops_at_a_copy(tmp_path):
    assert "envs/command.py --check" in make()
    CHECK_COPIES(tmp_path)
    (tmp_path / "densevse/_project").mkdir(parents=True)
    with pytest.raises(SystemExit, match=rf"{tmp_path} has a copy of densevse, .*-m pip uninstall densevse`, then"):
        CHECK_COPIES(tmp_path)
