"""Networks of libraries, methods without training, and given features: mistakes are reported by their path."""

import json
from pathlib import Path

import pytest

from densevse.config.load import load, merge, variant
from snakeproof.errors import InputError
from tests.tiny_networks import CLIP

CONFIG = Path(__file__).parents[2] / "config"
SCAN = {
    "title": "Mine",
    "reader": "scan",
    "options": {"copies": 5},
    "local": {"precomp": "f30k_precomp"},
    "features": {"butd": {"regions": {"format": "scan"}, "whole_by": "mean"}},
    "networks": {"regions": "butd", "whole": "butd"},
    "word_vectors": None,
}
ARRAY = {"format": "array", "path": "x.npy", "ids": "x.txt"}


def read(dataset):
    return load(CONFIG, {"datasets": {"mine": dataset}}).datasets["mine"]


def test_features_stand_in_the_place_of_networks():
    assert read(SCAN).features["butd"].views == ["regions", "whole"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"networks": {"whole": "vgg19"}}, "mine.networks.whole: vgg19 needs pictures, and the data set has none"),
        ({"networks": {"grid": "butd"}}, "mine.networks.grid: no 'grid'; known: regions, whole"),
        ({"networks": {"whole": "butt"}}, "mine.networks.whole: no 'butt'; known: .*butd"),
        ({"features": {"vgg19": {"whole": ARRAY}}}, "features.vgg19: a network has this name; rename"),
        ({"features": {"butd": {"whole_by": None}}}, "whole_by: region 0 is the whole image"),
        ({"features": {"butd": {"whole_by": "vgg1"}}}, "features.butd.whole_by.whole: no 'vgg1'"),
        ({"features": {"butd": {"whole": ARRAY}}}, "whole, whole_by: only one of them describes whole images"),
        ({"features": {"butd": {"regions": ARRAY | {"ids": None}}}}, "ids: the format array needs it"),
        ({"features": {"butd": {"regions": {"path": "x"}}}}, "path: the format scan has none"),
        ({"features": {"butd": {"regions": ARRAY | {"image_id": "x"}}}}, "image_id: 'x' must hold {id}"),
        (
            {"features": {"butd": {"grid": ARRAY | {"boxes": "y.npy"}}}},
            "grid: boxes and the format bottom_up are for regions",
        ),
        ({"features": {"other": {"whole_by": "mean"}}}, "one of the views regions, grid, whole and concepts is needed"),
        ({"options": {"copies": 2}}, "options.copies"),
    ],
)
def test_wrong_features_are_refused_by_their_key(changes, message):
    with pytest.raises(InputError, match=message):
        read(merge(SCAN, changes))


def test_the_format_scan_is_of_the_reader_scan():
    features = {"butd": {"grid": {"format": "scan"}}}
    with pytest.raises(InputError, match=r"features\.butd\.grid\.format: only the reader scan has the format scan"):
        load(CONFIG, {"datasets": {"flickr8k": {"features": features}}})


NETWORK = {**CLIP, "local": "clip.safetensors"}
HUB = {"file": "a.safetensors", "hub": "some/network", "revision": "0" * 40, "sha256": "0" * 64, "licence": "none"}


def own(**changes):
    return {"networks": {"mine": {**NETWORK, **changes}}}


def test_networks_of_libraries_stand_beside_others():
    config = load(CONFIG, own())
    assert config.networks["mine"].library.package == "open_clip"
    assert config.networks["deit_small"].library.extra == "networks"
    assert config.networks["vgg19"].library is None
    assert variant(config, "flickr8k", "clip").is_untrained
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
        ({"networks": {"vgg19": {"tokenizer": {"local": "a.json"}}}}, "tokenizer: vgg19 encodes no sentences; remove"),
        (own(tokenizer={"pad": "</s>"}), "a tokenizer needs a source or local"),
        (own(weights={**HUB, "revision": None}), "revision: a file of a hub's repository needs the commit"),
        (own(weights={**HUB, "sha256": None}), "sha256: a file of a hub's repository needs it"),
        (own(weights={**HUB, "url": "https://a.b/c"}), "a source has one of url, hub"),
        (
            own(weights={"file": "a.pth", "url": "https://a.b/c", "path": "b/a.pth", "licence": "none"}),
            "path: only a file",
        ),
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
