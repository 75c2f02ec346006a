"""The differences of nested values, as errors name them."""

from snakeproof.errors import describe_differences, differences, leaves

FIRST = {"network": "vgg19", "sizes": [1, 2], "phases": [{"epochs": 3}], "parents": {"images": {"reader": "flickr"}}}


def test_leaves_have_the_path_to_them_and_plain_lists_are_whole():
    expected = {"network": "vgg19", "sizes": [1, 2], "phases.0.epochs": 3, "parents.images.reader": "flickr"}
    assert dict(leaves(FIRST)) == expected


def test_only_differences_are_told():
    second = {**FIRST, "phases": [{"epochs": 0}], "parents": {"images": {}, "more": {"kind": "mcg"}}}
    found = {"phases.0.epochs": (3, 0), "parents.images.reader": ("flickr", None), "parents.more.kind": (None, "mcg")}
    assert differences(FIRST, second) == found
    said = "phases.0.epochs: expected 3, found 0; parents.images.reader: expected flickr, found none"
    assert describe_differences(FIRST, second).startswith(said)


def test_nothing_is_told_of_what_is_equal():
    assert differences(FIRST, dict(FIRST)) == {}
    assert describe_differences(FIRST, FIRST) == ""
