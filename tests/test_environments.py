import pytest

from tests.environments import ROOT, environments, pinned


def test_conda_environments_have_the_pinned_versions():
    versions = pinned()
    found = environments()
    assert {path.stem for path in found} == {"base", "torch", "corenlp"}
    for path, packages in found.items():
        assert packages, path
        for name, version in packages.items():
            assert versions[name] == version, f"{path.name}: {name}"


def test_slurm_needs_no_other_versions():
    versions = pinned()
    additional = {name for name, version in pinned("requirements-slurm.txt").items() if versions.get(name) != version}
    assert additional == {"snakemake-executor-plugin-slurm", "snakemake-executor-plugin-slurm-jobstep"}


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-slurm.txt"])
def test_requirements_name_no_index(file):
    text = (ROOT / file).read_text()
    assert "--index" not in text
    assert "://" not in text
    assert text.count("--hash=sha256:") > len(pinned(file))
