import os
import re
import runpy
import shutil
import subprocess
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tools.environments import ROOT, environments, pinned_versions

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
INSTALL = runpy.run_path(str(ROOT / "envs/install.py"))


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
UNLOCKED = {"workflow", "mcg"}
"""Extras without a lock of their own: requirements.txt has the workflow's, and mcg is pinned where it is named."""
LOCKS = {f"requirements-{name}.txt": named for name, named in (EXTRAS | GROUPS).items() if name not in UNLOCKED}


def test_what_pyproject_names_is_pinned():
    named = [("requirements.txt", RUNNING), ("requirements-cuda12.txt", RUNNING), *LOCKS.items()]
    wrong = [
        f"{file}: {requirement}"
        for file, requirements in named
        for requirement in map(Requirement, requirements)
        if pinned_versions(file).get(canonicalize_name(requirement.name), "") not in requirement.specifier
    ]
    assert wrong == [], "`make lock`"


@pytest.mark.parametrize("extra", ["eccv-caption", "networks", "onnx", "serve", "tensorboard", "heic"])
def test_the_environment_of_tests_has_the_extras_of_tables(extra):
    assert set(EXTRAS[extra]) <= set(GROUPS["dev"]), "a table that needs it would be made by no test"


@pytest.mark.parametrize(
    ("file", "added"),
    [
        ("requirements-slurm.txt", {"snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"}),
        ("requirements-eccv-caption.txt", {"eccv-caption"}),
        ("requirements-onnx.txt", {"ml-dtypes", "onnx", "onnx-ir", "onnxscript"}),
        ("requirements-serve.txt", {"werkzeug"}),
        (
            "requirements-tensorboard.txt",
            {"absl-py", "grpcio", "markdown", "tensorboard", "tensorboard-data-server", "werkzeug"},
        ),
        ("requirements-heic.txt", {"pillow-heif"}),
        ("requirements-networks.txt", {"timm", "open-clip-torch", "ftfy", "wcwidth", "tokenizers"}),
    ],
)
def test_nothing_but_itself_is_added_by_the_requirements_of_an_extra(file, added):
    versions = pinned_versions()
    assert {name for name, version in pinned_versions(file).items() if versions.get(name) != version} == added


def test_nothing_needs_other_versions():
    """Tests of buckets run with what storage pins, too."""
    storage = [f"requirements-{name}.txt" for name in ("storage", "kubernetes", "bucket")]
    pairs = [*(("requirements.txt", file) for file in ("requirements-dev.txt", *storage)), (storage[0], storage[2])]
    for first, second in pairs:
        one, other = pinned_versions(first), pinned_versions(second)
        assert {name for name in one.keys() & other.keys() if one[name] != other[name]} == set(), second


def test_what_developing_needs_is_apart():
    running = pinned_versions()
    assert not {"pytest", "moto", "ruff", "mypy", "snakefmt", "hypothesis", "torchmetrics"} & running.keys()


def of_torch(name):
    return name in {"torch", "torchvision", "triton"} or name.startswith(("nvidia-", "cuda-"))


def test_both_locks_hold_the_same_packages_but_for_torch_and_what_it_pins():
    first, second = (INSTALL["requirements"](ROOT / file) for file in ("requirements.txt", "requirements-cuda12.txt"))
    same = [{name: text for name, text in lock.items() if not of_torch(name)} for lock in (first, second)]
    assert same[0].keys() == same[1].keys()
    # Another torch may want a package on other machines (the marker), but in no other version and with no other hash.
    marker = re.compile(r" ;.*(?= \\)")
    differing = {name for name in same[0] if marker.sub("", same[0][name]) != marker.sub("", same[1][name])}
    assert differing == set()
    assert len(same[0]) > 100


def test_each_lock_has_the_cuda_that_it_is_named_after():
    first, second = (
        set(filter(of_torch, pinned_versions(file))) for file in ("requirements.txt", "requirements-cuda12.txt")
    )
    assert {"nvidia-cudnn-cu13", "torch", "torchvision"} <= first
    assert {"nvidia-cudnn-cu12", "torch", "torchvision"} <= second
    assert not [name for name in second if name.endswith("-cu13")]


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
    (tmp_path / "envs").mkdir()
    locks = ("requirements.txt", "requirements-uv.txt", "requirements-cuda12.txt")
    for file in ("Makefile", *locks, "envs/command.py"):
        shutil.copy(ROOT / file, tmp_path / file)
    assert "envs/install.py requirements.txt\n" in make(folder=tmp_path)
    assert "envs/install.py requirements.txt\n" in make(folder=tmp_path, CUDA="/usr/local/cuda")
    assert "venv --clear .venv" in make("CUDA=12", folder=tmp_path)
    assert "locked files for 12 and 13" in make("CUDA=11", folder=tmp_path)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv/cuda").write_text("12\n")
    text = make(folder=tmp_path)
    assert "envs/install.py requirements-cuda12.txt\n" in text
    assert "--clear" not in text
    assert "venv --clear .venv" in make("CUDA=13", folder=tmp_path)


@pytest.mark.parametrize("target", ["developing", "cluster", "storage", "kubernetes", ".venv/bucket"])
def test_further_packages_replace_none_of_the_environment(target):
    """One made with CUDA=12 has another torch than the locks of these."""
    text = make(target)
    installed = [line for line in text.splitlines() if "envs/install.py requirements-" in line]
    further = [line for line in installed if "requirements-uv" not in line and "requirements-cuda12" not in line]
    assert further
    assert all("--beside requirements.txt" in line for line in further)


def test_requirements_name_no_index_and_hash_each_package():
    texts = {path.name: path.read_text() for path in ROOT.glob("requirements*.txt")}
    assert [name for name, text in texts.items() if "--index" in text or "://" in text] == []
    assert [name for name, text in texts.items() if text.count("--hash=sha256:") <= len(pinned_versions(name))] == []
