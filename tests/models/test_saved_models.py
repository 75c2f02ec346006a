"""Every variant of the configuration, in its small form for scenes: written, and read again as it was."""

from pathlib import Path

import pytest
import torch

from densevse.config.registries import VIEWS
from densevse.dag.project import Project
from densevse.methods.interface import Shapes
from densevse.models.files import build_method, load_model, save_model
from snakeproof.errors import InputError

PROJECT = Project(Path(__file__).parents[2], {})
VARIANTS = [
    name
    for name in PROJECT.config.variant_names()
    if not any(VIEWS[view].pixels for view in PROJECT.variant("scenes", name).views)
    and not PROJECT.variant("scenes", name).is_untrained  # such a model is a network's
]


@pytest.mark.parametrize("name", VARIANTS)
def test_a_variant_is_read_as_it_was_written(name, tmp_path):
    entry = PROJECT.variant("scenes", name)
    shapes = Shapes(dict.fromkeys(entry.views, 5), 11, torch.rand(11, 300), {"relations": 4})
    method = build_method(entry.model, entry.parameters.model_dump(), shapes)
    save_model(method, entry.model, entry.sentences, tmp_path / "model.safetensors")
    again = load_model(tmp_path / "model.safetensors").state_dict()
    assert again.keys() == method.state_dict().keys()
    assert all(torch.equal(value, again[key]) for key, value in method.state_dict().items())


@pytest.mark.parametrize("name", ["generators.lstm_captioner", "sco"])
def test_a_decoder_without_a_start_of_its_own_is_refused_by_name(name, tmp_path, monkeypatch):
    """As 0.2.0 wrote it: the start shared a row with the end."""
    view = "whole" if name == "sco" else "content"
    model = build_method(name, {"dimension": 8, "word_dimension": 8}, Shapes({view: 5}, 11))
    earlier = tmp_path / "model.safetensors"
    state = {key: value for key, value in model.state_dict().items() if key != "decoder.start"}
    monkeypatch.setattr(model, "state_dict", lambda: state)
    save_model(model, name, ["words"], earlier)
    message = r"model\.safetensors: tensor decoder\.start: expected \(8,\), found none.*version"
    with pytest.raises(InputError, match=message):
        load_model(earlier)
