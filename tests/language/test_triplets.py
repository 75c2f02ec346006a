import pandas as pd
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.parses import PARSES
from densevse.artifacts.schemas.vocabulary import RELATIONS
from densevse.errors import InputError
from densevse.language.triplets import (
    Triplet,
    count_relations,
    frequent_relations,
    known_triplets,
    triplets,
    write_relations,
)
from densevse.language.words import Vocabulary

TOKENS = ["A", "brown", "Dog", "runs"]
DEPENDENCIES = [("ROOT", -1, 3), ("det", 2, 0), ("amod", 2, 1), ("nsubj", 3, 2)]


def parse_row(caption_id, status="ok", tokens=TOKENS, dependencies=DEPENDENCIES):
    names = ("relation", "governor", "dependent")
    rows = [dict(zip(names, each, strict=True)) for each in dependencies]
    lists = dict.fromkeys(("tokens", "lemmas", "tags"), tokens)
    links = {"basic_dependencies": rows, "enhanced_dependencies": rows}
    return {"caption_id": caption_id, "image_id": "i", "text": "", "status": status, "tree": "", **lists, **links}


def test_triplets_of_a_sentence():
    assert triplets(TOKENS, DEPENDENCIES) == [
        Triplet("det", "dog", "a"),
        Triplet("amod", "dog", "brown"),
        Triplet("nsubj", "runs", "dog"),
    ]


def test_rare_relations_and_unknown_words_are_dropped():
    found = triplets(TOKENS, DEPENDENCIES)
    assert known_triplets(found, {"det", "nsubj"}, Vocabulary(["dog", "runs", "brown"])) == [("nsubj", "runs", "dog")]


def test_relations_are_counted_in_training_sentences_only(tmp_path):
    captions = pd.DataFrame(
        [("i#0", "i", 0, "", "train"), ("i#1", "i", 1, "", "train"), ("i#2", "i", 2, "", "test")],
        columns=["caption_id", "image_id", "position", "text", "split"],
    )
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet", {})
    failed = parse_row("i#1", status="too long", tokens=[], dependencies=[])
    test = parse_row("i#2", dependencies=[("case", 0, 1)] * 5)
    schema.write([parse_row("i#0"), failed], PARSES, tmp_path / "00-of-02.parquet", {})
    schema.write([test], PARSES, tmp_path / "01-of-02.parquet", {})
    shards = [str(tmp_path / f"0{i}-of-02.parquet") for i in range(2)]
    write_relations(str(tmp_path / "captions.parquet"), shards, str(tmp_path / "relations.parquet"))
    rows = schema.read(tmp_path / "relations.parquet", RELATIONS)
    assert list(rows["relation"]) == ["amod", "det", "nsubj"]
    assert list(rows["index"]) == [0, 1, 2]
    assert rows["share"].to_list() == pytest.approx([1 / 3] * 3)


def test_relations_below_one_percent_are_rare(tmp_path):
    frame = pd.DataFrame([parse_row("a", dependencies=[("det", 0, 1)] * 99 + [("dep", 0, 1)])])
    schema.write(count_relations(frame), RELATIONS, tmp_path / "relations.parquet", {})
    assert frequent_relations(tmp_path / "relations.parquet") == {"det", "dep"}
    frame = pd.DataFrame([parse_row("a", dependencies=[("det", 0, 1)] * 100 + [("dep", 0, 1)])])
    schema.write(count_relations(frame), RELATIONS, tmp_path / "relations.parquet", {})
    assert frequent_relations(tmp_path / "relations.parquet") == {"det"}


def test_no_relation_at_all_is_an_error():
    with pytest.raises(InputError, match="no dependency"):
        count_relations(pd.DataFrame([parse_row("a", dependencies=[("ROOT", -1, 0)])]))
