"""Every value of a method has a readable origin."""

from pathlib import Path

import pytest

from densevse.config.load import load
from densevse.config.methods import MODELS
from densevse.config.resolved import CommentedFile, default_origin, resolve_settings

ROOT = Path(__file__).parents[2]
FILES = sorted(path for folder in ("methods", "generators") for path in (ROOT / "config" / folder).glob("*.yaml"))
MADE = ("title", "paper", "model", "views", "sentences", "yields", "networks", "joint_embedding", "view", "rounds")
"""Keys that define a method and need no origin."""
ORIGIN_WORDS = ("paper", "public code", "VSE++'s code", "chosen", "ours", "the data set")
"""A comment that is an origin begins with one of these."""


@pytest.fixture(scope="module")
def config():
    return load(ROOT / "config", {})


def models(config):
    return [*config.variant_names(), *config.generator_names()]


def test_every_value_has_an_origin(config):
    """A variant's values without a comment define it; all other values have a comment or are defaults."""
    for name in models(config):
        for dataset in (None, *config.datasets):
            for row in resolve_settings(name, dataset, config, [], ROOT):
                where = f"{name} on {dataset}: {row.path} ({row.place})"
                assert row.origin, where
                assert row.origin != "the method" or row.path.split(".")[0] in MADE, where
                assert not row.origin.startswith(("the method, for", "the variant, for")), where


def test_every_default_of_a_parameter_has_an_origin():
    for model, kind in MODELS.items():
        for field in kind.model_fields:
            assert default_origin(kind, field).startswith(ORIGIN_WORDS), f"{model}.{field}"
        assert set(kind.ORIGINS) - {"*"} <= set(kind.model_fields), model


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_comment_behind_a_value_begins_with_a_word_of_origins(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        comment = line.partition(" # ")[2]
        if comment and not line.lstrip().startswith("#"):
            for part in comment.split("; "):
                assert part.rpartition(": ")[2].startswith(ORIGIN_WORDS), line


def test_the_nearest_comment_speaks(tmp_path):
    file = tmp_path / "some.yaml"
    file.write_text(
        "a: # paper; c: chosen\n  b: 1\n  c: 2\n  d: {e: 3} # ours\nf: &f {g: 4} # public code\nh: *f\ni: 5\n"
    )
    found = CommentedFile(file)
    assert found.find(["a", "b"]) == ("paper", 2)
    assert found.find(["a", "c"]) == ("chosen", 3)
    assert found.find(["a", "d", "e"]) == ("ours", 4)
    assert found.find(["h", "g"]) == ("public code", 5)
    assert found.find(["i"]) == (None, 7)
    assert found.find(["a", "z"]) is None
