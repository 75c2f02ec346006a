"""Targets that no rule makes are recognised, and the most similar one is found."""

import re

import pytest

from densevse.dag.project import Project
from densevse.dag.targets import Known, UnknownTargets
from snakeproof.errors import InputError
from tests.rules import ROOT

PATTERNS = [
    r"results/tables/(?P<table>flickr30k|scenes)\.md$",
    r"results/tables/(?P<dataset>flickr30k|scenes)_rounds\.md$",
    r"results/(?P<dataset>flickr30k|scenes)/models/(?P<variant>vse|vsepp)/model\.safetensors$",
    r"results/(?P<dataset>scenes)/(?P=dataset)\.parquet$",
    r"resources/(?P<resource>flickr30k/images\.tar)$",
    r"resources/(?P<network>alexnet|(?:vgg|[()]net)-(?:16|19)\)?)$",
    r"resources/(?P<network>alexnet|(?:vgg|[()]net)-(?:16|19)\)?)/(?P<file>weights\.(?:pt|pth))$",
]


@pytest.fixture(scope="module")
def targets():
    makes = lambda path: any(re.match(pattern, path) for pattern in PATTERNS)  # noqa: E731
    return UnknownTargets(Project(ROOT, {}), Known(lambda: ["all"], PATTERNS, makes))


@pytest.mark.parametrize(
    ("target", "near"),
    [
        ("results/tables/flickr30.md", "results/tables/flickr30k.md"),
        ("results/tables/scenes_round.md", "results/tables/scenes_rounds.md"),
        ("results/scenez/models/vse/model.safetensors", "results/scenes/models/vse/model.safetensors"),
        ("results/scenes/model/vse/model.safetensors", "results/scenes/models/vse/model.safetensors"),
        ("results/tables/scenes.pdf", "results/tables/scenes.md"),
        ("al", "all"),
        ("flickr30", "results/tables/flickr30k.md"),
        ("results/tables/qqqq.md", None),
        ("qqqq", None),
    ],
)
def test_the_near_target_is_named(target, near, targets):
    assert targets.similar_target(target) == near
    with pytest.raises(InputError, match=re.escape(target)):
        targets.refuse(target)


@pytest.mark.parametrize(
    ("path", "unknown"),
    [
        ("results/tables/scenes.md", False),
        ("results/tables/scens.md", True),
        ("results/scenes/scenes.parquet", False),
        ("resources/flickr30k/images.tar", False),
        ("resources/flickr30k/image.tar", True),
        ("resources/vgg-16", False),
        ("resources/)net-19)", False),
        ("resources/vgg-16/weights.pth", False),
        ("resources/vgg-16/weights", True),
        ("resources/vgg-16/", True),
        ("resources/", False),
        ("results/logs/train/scenes.log", False),
        ("results/logs", True),
        ("config/published/vse.csv", False),
        ("/elsewhere/photographs.zip", False),
        ("photographs", False),
        ("photograph", True),
        ("al", True),
    ],
)
def test_what_no_rule_makes_is_matched_and_nothing_else(path, unknown, targets):
    assert bool(re.fullmatch(targets.unknown_pattern(["photographs"]), path)) == unknown
