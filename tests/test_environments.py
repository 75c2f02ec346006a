import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.environments import ROOT, environments, pinned

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def test_conda_environments_have_the_pinned_versions():
    versions = pinned()
    found = environments()
    assert {path.stem for path in found} == {"base", "torch", "corenlp"}
    for path, packages in found.items():
        assert packages, path
        for name, version in packages.items():
            assert versions[name] == version, f"{path.name}: {name}"


@pytest.mark.parametrize(
    ("file", "named"),
    [
        ("requirements.txt", PYPROJECT["project"]["dependencies"]),
        ("requirements-slurm.txt", PYPROJECT["project"]["optional-dependencies"]["slurm"]),
        ("requirements-storage.txt", PYPROJECT["project"]["optional-dependencies"]["storage"]),
        ("requirements-kubernetes.txt", PYPROJECT["project"]["optional-dependencies"]["kubernetes"]),
        ("requirements-eccv-caption.txt", PYPROJECT["project"]["optional-dependencies"]["eccv-caption"]),
        ("requirements-networks.txt", PYPROJECT["project"]["optional-dependencies"]["networks"]),
        ("requirements-dev.txt", PYPROJECT["dependency-groups"]["dev"]),
        ("requirements-bucket.txt", PYPROJECT["dependency-groups"]["bucket"]),
        ("requirements-uv.txt", PYPROJECT["dependency-groups"]["uv"]),
    ],
)
def test_what_pyproject_names_is_pinned(file, named):
    versions = pinned(file)
    for requirement in map(Requirement, named):
        assert versions[canonicalize_name(requirement.name)] in requirement.specifier, f"{requirement}: `make lock`"


@pytest.mark.parametrize(
    ("file", "added"),
    [
        ("requirements-slurm.txt", {"snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"}),
        ("requirements-eccv-caption.txt", {"eccv-caption"}),
        ("requirements-networks.txt", {"timm", "open-clip-torch", "ftfy", "wcwidth"}),
    ],
)
def test_nothing_but_itself_is_added_by_the_requirements_of_an_extra(file, added):
    versions = pinned()
    assert {name for name, version in pinned(file).items() if versions.get(name) != version} == added


STORAGE = ("requirements-storage.txt", "requirements-kubernetes.txt", "requirements-bucket.txt")


@pytest.mark.parametrize("file", ["requirements-dev.txt", *STORAGE])
def test_nothing_needs_other_versions(file):
    running, besides = pinned(), pinned(file)
    assert {name for name in running.keys() & besides.keys() if running[name] != besides[name]} == set()


def test_tests_run_with_what_the_requirements_of_storage_pin():
    with_storage, tested = pinned(STORAGE[0]), pinned(STORAGE[2])
    assert {name for name in with_storage.keys() & tested.keys() if with_storage[name] != tested[name]} == set()


def test_what_developing_needs_is_apart():
    running = pinned()
    assert not {"pytest", "moto", "ruff", "mypy", "snakefmt", "hypothesis", "torchmetrics"} & running.keys()


@pytest.mark.parametrize("file", sorted(path.name for path in ROOT.glob("requirements*.txt")))
def test_requirements_name_no_index(file):
    text = (ROOT / file).read_text()
    assert "--index" not in text
    assert "://" not in text
    assert text.count("--hash=sha256:") > len(pinned(file))
