import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.schemas.sentences import FRAGMENTS, RELATIONS, WORD_VECTORS, WORDS
from densevse.language.triplets import (
    Triplet,
    count_relations,
    frequent_relations,
    read_dependency_kind,
    triplet_table,
    triplets,
    write_relations,
)
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.sentences import describe
from densevse.scenes.world import sample_family
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.language.made_up import parse_row, write_captions, write_parses

TOKENS = ["A", "brown", "Dog", "runs", "."]
DEPENDENCIES = [("ROOT", -1, 3), ("det", 2, 0), ("amod", 2, 1), ("nsubj", 3, 2), ("punct", 3, 4)]


def test_triplets_of_a_sentence():
    assert triplets(TOKENS, DEPENDENCIES) == [
        Triplet("det", "dog", "a"),
        Triplet("amod", "dog", "brown"),
        Triplet("nsubj", "runs", "dog"),
    ]


@pytest.fixture
def tables(tmp_path):
    """Two training sentences, of which one was not parsed, one of test, and the words dog and runs."""
    sentences = {"i#0": "A/DT brown/JJ Dog/NN runs/VBZ ./.", "i#1": None, "j#0": "runs/VBZ on/IN dog/NN"}
    links = {"i#0": DEPENDENCIES, "j#0": [("obl:on", 0, 2), ("case", 2, 1), ("obl:on", 0, 2)]}
    words = pd.DataFrame({"index": [2, 3, 4], "word": ["dog", "runs", "a"], "count": 1})
    schema.write(words, WORDS, tmp_path / "words.parquet")
    vectors = words.drop(columns="count").assign(found=[True, True, False], vector=[[1.0]] * 3)
    schema.write(vectors, WORD_VECTORS, tmp_path / "vectors.parquet")
    captions = write_captions(tmp_path, {"i#0": "train", "i#1": "train", "j#0": "test"})
    return captions, [write_parses(tmp_path, sentences, links)], str(tmp_path / "words.parquet")


def written(tables, folder, kind, vectors=None):
    outputs = str(folder / f"relations-{kind}.parquet"), str(folder / f"fragments-{kind}.parquet")
    wildcards = {"dependencies": kind}
    with making(Statement(wildcards=wildcards)):
        write_relations(*tables, wildcards, *outputs, vectors=vectors)
    return schema.read(outputs[0], RELATIONS), schema.read(outputs[1], FRAGMENTS).set_index("part")


def test_relations_are_numbered_by_training_and_counted_in_all(tables, tmp_path):
    rows, _ = written(tables, tmp_path, "enhanced")
    assert rows["relation"].tolist() == ["amod", "det", "nsubj", "case", "obl:on"]
    assert rows["index"].tolist() == [0, 1, 2, 3, 4]
    assert rows["count"].tolist() == [1, 1, 1, 0, 0]
    assert rows["share"].to_list() == pytest.approx([1 / 3] * 3 + [0, 0])
    assert rows["count_of_all"].tolist() == [1, 1, 1, 1, 2]
    assert frequent_relations(tmp_path / "relations-enhanced.parquet") == ["amod", "det", "nsubj"]
    rows, _ = written(tables, tmp_path, "basic")
    assert rows["relation"].tolist()[-1] == "obl"


def test_collapsed_relations_have_no_triplet_of_the_word_that_they_contain(tables, tmp_path):
    rows, _ = written(tables, tmp_path, "collapsed")
    assert rows["relation"].tolist() == ["amod", "det", "nsubj", "obl:on"]
    assert read_dependency_kind(tmp_path / "relations-collapsed.parquet") == "collapsed"


def test_what_rare_relations_and_unknown_words_cost_is_counted(tables, tmp_path):
    _, parts = written(tables, tmp_path, "enhanced")
    assert parts.index.tolist() == ["all", "train", "test"]
    assert parts["sentences"].tolist() == [3, 2, 1]
    assert parts["triplets"].tolist() == [6, 3, 3]
    assert parts["relations"].tolist() == [5, 3, 2]
    assert parts["rare_relation"].tolist() == pytest.approx([1 / 2, 0, 1])
    assert parts["unknown_word"].tolist() == pytest.approx([1 / 6, 1 / 3, 0])  # amod(dog, brown)
    assert parts["kept"].tolist() == [2, 2, 0]
    assert parts["without"].tolist() == [2, 1, 1]
    assert parts["longest"].tolist() == [2, 2, 0]
    _, parts = written(tables, tmp_path, "enhanced", str(tmp_path / "vectors.parquet"))
    assert parts["kept"].tolist() == [1, 1, 0]  # "a" has no vector


@pytest.mark.parametrize(("many", "kept"), [(99, ["det", "dep"]), (100, ["det"])])
def test_relations_below_one_percent_are_rare(tmp_path, many, kept):
    row = parse_row("a#0", "a/DT dog/NN", [("det", 1, 0)] * many + [("dep", 1, 0)])
    found = triplet_table(pd.DataFrame([row]), "enhanced")
    rows = count_relations(found, found["relation"].notna())
    schema.write(rows, RELATIONS, tmp_path / "relations.parquet")
    assert frequent_relations(tmp_path / "relations.parquet") == kept


def test_no_relation_at_all_is_an_error():
    found = triplet_table(pd.DataFrame([parse_row("a#0", "dog/NN", [("ROOT", -1, 0)])]), "enhanced")
    with pytest.raises(InputError, match="no dependency"):
        count_relations(found, found["relation"].notna())


def test_relations_of_scenes_have_words_in_them():
    random = np.random.default_rng(2)
    texts = [one.text for _ in range(60) for scene in sample_family(random) for one in describe(scene, random)]
    parses = GrammarParser().parse(texts)
    relations = {one.relation for parse in parses for one in parse.enhanced_dependencies}
    assert {"obl:on", "obl:of", "obl:agent", "nmod:of", "nmod:with", "nmod:above", "conj:and", "nummod"} <= relations
    basic = {one.relation for parse in parses for one in parse.basic_dependencies}
    assert {"obl", "nmod", "conj"} <= basic
    tags = {tag for parse in parses for tag in parse.tags}
    assert {"NN", "NNS", "JJ", "CD", "VBZ", "VBP", "VBG", "VBN", "IN", "DT", "CC", "EX", "WDT"} <= tags
