"""A released model: one folder, with which a stranger searches photographs."""

import json
import shutil
import subprocess
import tomllib

import cv2
import numpy as np
import pytest
import yaml

from densevse.command.main import main as densevse
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.files import checksum
from tests.projects import ROOT, SMALL
from tools.release import main, release

EXPORTED = "results/scenes/exported/vsepp/seed0/round0"


@pytest.fixture(scope="module")
def original(continue_project):
    """A finished project from which a model was released."""
    project = continue_project(SMALL)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.folder)
        assert main(["vsepp", "scenes", "--configfile", "test.yaml"]) == 0
    return project


@pytest.mark.slow
def test_a_release_has_the_model_its_network_and_sums(original):
    folder = original.folder / "release/vsepp-scenes"
    files = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    own = {"README.md", "settings.yaml", "SHA256SUMS", "networks/README.md", "networks/scenes_net.safetensors"}
    listed = json.loads((folder / "model/records.json").read_text())["files"]
    assert files == own | {f"model/{name}" for name in [*listed, "records.json"]}
    subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=folder, check=True)
    assert len((folder / "SHA256SUMS").read_text().splitlines()) == len(files) - 1
    card = (folder / "networks/README.md").read_text()
    digest = checksum(ROOT / "config/networks/scenes_net.safetensors")
    assert f"| weights_sha256 | {digest} |" in card
    assert "| licence of the weights | that of this repository |" in card
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"It was made with densevse {version}" in (folder / "README.md").read_text()
    networks = yaml.safe_load((folder / "settings.yaml").read_text())["networks"]
    assert networks == {"scenes_net": {"local": "vsepp-scenes/networks/scenes_net.safetensors"}}


@pytest.mark.slow
def test_a_release_is_not_overwritten_and_has_the_weights_of_the_training(original, tmp_path, monkeypatch):
    monkeypatch.chdir(original.folder)
    exported = original.folder / EXPORTED
    with pytest.raises(InputError, match=r"vsepp-scenes is there already\. Delete it"):
        release(exported, Project(ROOT, SMALL), SMALL, original.folder / "release/vsepp-scenes")
    other = tmp_path / "other.safetensors"
    other.write_bytes(b"?")
    project = Project(ROOT, {**SMALL, "networks": {"scenes_net": {"local": str(other)}}})
    with pytest.raises(InputError, match=r"other\.safetensors: not the weights with which the model was trained"):
        release(exported, project, SMALL, tmp_path / "released")
    assert not (tmp_path / "released").exists()


@pytest.mark.long
def test_a_stranger_searches_with_a_release_alone(original, make_project, monkeypatch, capsys):
    stranger = make_project({})
    monkeypatch.chdir(stranger.folder)
    shutil.copytree(original.folder / "release/vsepp-scenes", "vsepp-scenes")
    (stranger.folder / "photographs").mkdir()
    for name in ("one", "two"):
        cv2.imwrite(f"photographs/{name}.png", np.full((80, 80, 3), len(name) * 40, np.uint8))
    given = ["--configfile", "vsepp-scenes/settings.yaml"]
    assert densevse(["import", "vsepp-scenes/model", *given]) == 0
    assert densevse(["search", "a red circle", "photographs", "--model", "scenes/vsepp", *given]) == 0
    assert {"one.png", "two.png"} <= set(capsys.readouterr().out.replace("/", " ").split())
