"""The network of scenes is trained and released by targets of the workflow, on pictures of its own."""

import copy

import pytest
from safetensors.torch import load_file

from tests.projects import SMALL

FOLDER = "results/scenes_pretraining/networks"


@pytest.mark.long
def test_it_is_trained_and_released_with_a_card(continue_project):
    values = copy.deepcopy(SMALL)
    pictures = {"options": {"images": {"train": 24, "val": 8, "test": 1}}}
    values["datasets"] = {**values["datasets"], "scenes_pretraining": pictures}
    values["networks"] = {"scenes_net": {"phases": {"rise": {"epochs": 1}, "fall": {"epochs": 1}}}}
    project = continue_project(values)
    project.run(f"{FOLDER}/released/scenes_net.safetensors")
    files = (project.folder / FOLDER / f"{name}.safetensors" for name in ("scenes_net", "released/scenes_net"))
    trained, released = map(load_file, files)
    assert released.keys() == trained.keys()
    assert "24 pictures" in (project.folder / FOLDER / "released/scenes_net.md").read_text()
