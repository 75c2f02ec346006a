"""Every variant of the configuration, in its small form for scenes: written, and read again as it was."""

from pathlib import Path

import pytest
import torch

from densevse.config.registries import VIEWS
from densevse.dag.project import Project
from densevse.methods.interface import Shapes
from densevse.models.files import build, load_model, save_model

PROJECT = Project(Path(__file__).parents[2], {})
VARIANTS = [
    name
    for name in PROJECT.config.variant_names()
    if not any(VIEWS[view].pixels for view in PROJECT.variant("scenes", name).views)
    and not PROJECT.variant("scenes", name).untrained  # such a model is a network's
]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_read_as_it_was_written(name, tmp_path):
    entry = PROJECT.variant("scenes", name)
    shapes = Shapes(dict.fromkeys(entry.views, 5), 11, torch.rand(11, 300), {"relations": 4})
    method = build(entry.model, entry.parameters.model_dump(), shapes)
    save_model(method, entry.model, entry.sentences, tmp_path / "model.safetensors", {})
    again = load_model(tmp_path / "model.safetensors").state_dict()
    assert again.keys() == method.state_dict().keys()
    assert all(torch.equal(value, again[key]) for key, value in method.state_dict().items())
