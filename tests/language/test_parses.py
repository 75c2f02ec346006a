import logging

import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.language.parses import Dependency, Parse, write_parses
from snakeproof import schema


class Words:
    """A parser that returns the words of each text, and refuses texts without any."""

    def __init__(self):
        self.asked = []

    def parse(self, texts):
        self.asked += texts
        return [self._parse(text) if text else Parse.from_failure("no words") for text in texts]

    def _parse(self, text):
        tokens = text.split()
        links = [Dependency("ROOT", -1, 0)]
        return Parse("ok", tokens, tokens, ["NN"] * len(tokens), "(NP (NN dog))", links, links)


IMAGE_ROWS = [("i0", "ok"), ("i1", "truncated"), ("i2", "ok"), ("i3", "ok")]
CAPTION_ROWS = [("i0", "dog"), ("i0", "dog"), ("i0", ""), ("i1", "cat"), ("i2", "dog"), ("i2", "cow"), ("i3", "cow")]


@pytest.fixture
def tables(tmp_path):
    images = pd.DataFrame(IMAGE_ROWS, columns=["image_id", "status"])
    known = images.assign(source="images", file=images["image_id"], split="train", width=1, height=1, sha256="")
    schema.write(known.assign(captions=2, family=known["image_id"]), IMAGES, tmp_path / "images.parquet")
    captions = pd.DataFrame(CAPTION_ROWS, columns=["image_id", "text"])
    position = captions.groupby("image_id").cumcount()
    captions = captions.assign(
        position=position, caption_id=captions["image_id"] + "#" + position.astype(str), split="train"
    )
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet")
    return tmp_path


def parse(tables, shard, parser=None):
    path = tables / "parses" / f"{shard}.parquet"
    files = [str(tables / name) for name in ("images.parquet", "captions.parquet")]
    write_parses(parser or Words(), *files, shard, str(path))
    return schema.read(path, PARSES)


def test_each_text_is_parsed_once_and_each_caption_has_its_row(tables):
    parser = Words()
    rows = parse(tables, "00-of-01", parser)
    assert parser.asked == ["dog", "", "cow"]
    assert list(rows["caption_id"]) == ["i0#0", "i0#1", "i0#2", "i2#0", "i2#1", "i3#0"]
    assert [list(tokens) for tokens in rows["tokens"]] == [["dog"], ["dog"], [], ["dog"], ["cow"], ["cow"]]
    assert rows["basic_dependencies"][0].tolist() == [{"relation": "ROOT", "governor": -1, "dependent": 0}]


def test_a_caption_that_is_not_parsed_says_why(tables, caplog):
    with caplog.at_level(logging.WARNING):
        rows = parse(tables, "00-of-01")
    assert list(rows["status"]) == ["ok", "ok", "no words", "ok", "ok", "ok"]
    assert rows["tree"][2] == ""
    assert "1 captions not parsed: no words" in caplog.text


def test_shards_together_are_the_whole(tables):
    whole = parse(tables, "00-of-01")
    shards = [parse(tables, f"0{shard}-of-03") for shard in range(3)]
    pd.testing.assert_frame_equal(pd.concat(shards, ignore_index=True), whole)
    assert not (tables / "parses" / "00-of-01.parquet").exists()


def test_a_shard_without_captions_is_an_empty_file(tables):
    assert len(parse(tables, "01-of-04")) == 0
