"""Networks of libraries, and methods without training, in the configuration: mistakes are reported by their path."""

import json
from pathlib import Path

import pytest

from densevse.config.load import load, variant
from densevse.runtime.errors import InputError
from tests.tiny_networks import CLIP

CONFIG = Path(__file__).parents[2] / "config"
NETWORK = {**CLIP, "local": "clip.safetensors"}
HUB = {"file": "a.safetensors", "hub": "some/network", "revision": "0" * 40, "sha256": "0" * 64, "licence": "none"}


def own(**changes):
    return {"networks": {"mine": {**NETWORK, **changes}}}


def test_networks_of_libraries_stand_beside_others():
    config = load(CONFIG, own())
    assert config.networks["mine"].library.package == "open_clip"
    assert config.networks["deit_small"].library.extra == "networks"
    assert config.networks["vgg19"].library is None
    assert variant(config, "flickr8k", "clip").untrained
    assert config.untrained_names() == ["clip", "clip_prompt"]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (own(architecture="tim:vit_b"), "networks.mine.architecture: no library of networks 'tim'.* is 'timm' meant"),
        (own(architecture="timm:"), "'timm:' names no network of timm; write timm:<network>"),
        (own(size=96), "networks.mine.size: open_clip:ViT-B-32 brings its own preprocessing"),
        (own(mean=[0.1, 0.1, 0.1]), "networks.mine.mean: .* brings its own"),
        (
            own(layers={"whole": "fc7"}),
            "layers.whole: 'fc7' is not a layer for this view; .* whole: pooled, .*grid: patch",
        ),
        (own(layers={"ten_crop": "pooled"}), "layers.ten_crop: 'pooled' is not a layer for this view"),
        (own(regions={"scoring": "roi_align"}), "regions: .* reads crops of its own size; remove scoring"),
        ({"networks": {"vgg19": {"options": {"depth": 3}}}}, "networks.vgg19.options: vgg19 is not a network of a lib"),
        (own(weights={**HUB, "revision": None}), "revision: a file of a hub's repository needs the commit"),
        (own(weights={**HUB, "sha256": None}), "sha256: a file of a hub's repository needs it"),
        (own(weights={**HUB, "url": "https://a.b/c"}), "a source has one of url, hub"),
        (
            {"methods": {"clip": {"networks": {"whole": "vgg19"}}}},
            "methods.clip.networks.whole: vgg19 encodes no sentences, as the structure text requires",
        ),
        (
            {"methods": {"clip": {"variants": {"other": {"networks": {"whole": "deit_small"}}}}}},
            "methods.clip.variants.other.networks.whole: deit_small encodes no sentences",
        ),
        (
            {"methods": {"vse": {"sentences": ["text"]}}},
            "sentences: text is encoded by a network that is not tr",
        ),
        ({"methods": {"vse": {"training": "none"}}}, "phases: nothing is trained"),
        ({"methods": {"clip": {"sentences": ["words"]}}}, r"without training .* sentences must be \[text\]"),
        ({"methods": {"clip": {"parameters": {"prompt": "a photo"}}}}, r"prompt: 'a photo' must hold {} once"),
    ],
    ids=lambda value: json.dumps(value)[:60] if isinstance(value, dict) else "",
)
def test_mistakes_are_named(values, said):
    with pytest.raises(InputError, match=said):
        load(CONFIG, values)
