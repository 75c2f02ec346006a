"""Given features of a data set: mistakes are reported by their key when the configuration is read."""

from pathlib import Path

import pytest

from densevse.config.load import load, merge
from densevse.runtime.errors import InputError

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
