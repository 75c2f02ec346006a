"""EfficientNet-Lite: timm's network of the same name, from the same weights and pixels."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from densevse.config.networks import CLASSES
from densevse.vision.architectures.efficientnet_lite import SIZES, untrained
from densevse.vision.networks import load_network

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT.parent / "shared/data/weights"
SIDES = {"tf_efficientnet_lite0": 224, "tf_efficientnet_lite2": 260}
"""260 pixels become 65, 33, 17 and 9 cells: TensorFlow pads odd sizes otherwise than even ones."""


def scores_by_timm(timm, name, state, pixels):
    """(N, 1280, cells, cells) the map, and (N, 1000) the scores, of standardised pixels."""
    model = timm.create_model(name).to(pixels.dtype).eval()
    model.load_state_dict(state)
    cells = model.forward_features(pixels)
    return cells, model.forward_head(cells)


@pytest.mark.parametrize("name", SIZES)
@torch.inference_mode()
def test_random_weights_give_what_timm_gives(name):
    timm = pytest.importorskip("timm", reason="the extra `networks` is not installed")
    torch.manual_seed(0)
    ours = untrained(name, {}).double().eval()
    pixels = torch.randn(1, 3, SIDES[name], SIDES[name], dtype=torch.double)
    assert torch.allclose(ours(pixels), scores_by_timm(timm, name, ours.state_dict(), pixels)[1], rtol=1e-9)


@pytest.mark.parametrize("name", SIZES)
@torch.inference_mode()
def test_published_weights_give_what_timm_gives(name):
    timm = pytest.importorskip("timm", reason="the extra `networks` is not installed")
    weights = PUBLISHED / f"{name}.safetensors"
    if not weights.is_file():
        pytest.skip(f"{weights.name} is not in ../shared/data/weights")
    settings = {"architecture": name, "size": SIDES[name], "resize": 292, "mean": [0.5] * 3, "std": [0.5] * 3}
    settings |= {"layers": {"whole": "pooled", "grid": "conv"}, "nodes": {"pooled": "map", "conv": "map"}}
    network = load_network({**settings, "precision": "fp32"}, weights)
    batch = torch.randint(256, (2, 3, SIDES[name], SIDES[name]), dtype=torch.uint8)
    cells, scores = scores_by_timm(timm, name, load_file(weights), batch.float() / 127.5 - 1)
    assert torch.allclose(network.grid(batch, "conv"), cells.flatten(2).transpose(1, 2), atol=1e-3)
    assert torch.allclose(network.features(batch, "pooled"), cells.mean((2, 3)), atol=1e-3)
    assert torch.allclose(network.outputs(batch, [CLASSES])[0], scores, atol=1e-3)
