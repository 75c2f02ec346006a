"""A file in the working folder with the name of a package is never run, by no command and in no job."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.projects import ROOT, SMALL, copy_code

NAMES = ("numpy", "yaml", "random", "torch", "pandas", "pydantic", "json", "snakemake", "PIL")
IMAGES = "results/scenes/images.parquet"


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """The folder of `densevse` and `snakemake` in an environment that the copy of the project was put into."""
    folder = tmp_path_factory.mktemp("environment")
    spec = importlib.util.spec_from_file_location("command_of_environment", ROOT / "envs/command.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (folder / "bin").mkdir()
    (folder / "packages").mkdir()
    module.write_command(folder, folder / "packages")
    (folder / "bin/snakemake").symlink_to(Path(sys.executable).parent / "snakemake")
    return folder / "bin"


def set_traps(folder):
    """Modules that leave a mark in the folder when they are imported."""
    for name in NAMES:
        mark = f"open({str(folder / 'imported')!r}, 'a').write({name!r})"
        (folder / f"{name}.py").write_text(f"{mark}\nraise SystemExit\n")


def run(folder, *command):
    outside = {key: value for key, value in os.environ.items() if key not in ("PYTHONPATH", "PYTHONSAFEPATH")}
    done = subprocess.run(list(map(str, command)), cwd=folder, env=outside, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (folder / "imported").exists(), (folder / "imported").read_text()
    return done.stdout + done.stderr


def configured(folder):
    (folder / "small.yaml").write_text(json.dumps(SMALL))
    return "--configfile", "small.yaml"


def test_snakemake_and_its_jobs_in_another_folder(programs, tmp_path):
    set_traps(tmp_path)
    options = configured(tmp_path)
    run(tmp_path, programs / "snakemake", "-s", ROOT / "Snakefile", "--cores", "1", *options, "--", IMAGES)
    assert (tmp_path / IMAGES).exists()


def test_snakemake_in_the_checkout_itself(programs, tmp_path):
    copy_code(tmp_path)
    set_traps(tmp_path)
    run(tmp_path, programs / "snakemake", "--cores", "1", *configured(tmp_path), "--", IMAGES)
    assert (tmp_path / IMAGES).exists()


@pytest.mark.parametrize(
    "arguments",
    [("plan", IMAGES), ("list", "methods"), ("run", IMAGES)],
)
def test_the_command(programs, tmp_path, arguments):
    set_traps(tmp_path)
    run(tmp_path, programs / "densevse", *arguments)
