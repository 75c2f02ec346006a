"""Wrong sentences: of scenes, false of the picture; and other orders of a sentence's words."""

import json
import zipfile
from dataclasses import asdict, replace

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.choices.making import (
    CHANGES,
    COLOURS,
    ORDERS,
    change_orders,
    change_scenes,
    other_orders,
    say_pairs,
)
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.evaluation.choices import CHOICES
from densevse.scenes import world
from densevse.scenes.grammar import GrammarParser
from densevse.scenes.world import Layout, sample_family
from snakeproof import schema
from snakeproof.errors import InputError

PARSER = GrammarParser()


def words(text):
    return text.lower().replace(".", "").replace(",", "").split()


@pytest.fixture(scope="module")
def pairs():
    """Category -> scenes of the generated world, each with its pairs of sentences."""
    random = np.random.default_rng(0)
    scenes = [scene for _ in range(60) for scene in sample_family(random)]
    return {
        category: [
            (scene, pair)
            for number, scene in enumerate(scenes)
            for pair in say_pairs(scene, category, PARSER, [0, number])
        ]
        for category in CHANGES
    }


def test_every_category_has_pairs_of_the_grammar(pairs):
    for found in pairs.values():
        assert len(found) > 20
        assert all(parse.status == "ok" for _, pair in found for parse in PARSER.parse(list(pair)))
        assert all(pair[0] != pair[1] for _, pair in found)


def test_a_wrong_colour_is_of_no_thing_of_the_scene(pairs):
    assert set(COLOURS) == set(world._COLOURS)
    for scene, (right, wrong) in pairs["colour"]:
        said = [(one, other) for one, other in zip(words(right), words(wrong), strict=True) if one != other]
        assert said
        there = {thing.colour for thing in scene.things}
        assert all(one in there and other in {*COLOURS} - there for one, other in said)


def test_a_wrong_number_is_larger(pairs):
    for scene, (right, wrong) in pairs["number"]:
        for noun in {"ball", "box", "cone", "star", "ring"}:
            plural = noun + ("es" if noun == "box" else "s")
            if plural in words(wrong) and plural in words(right):
                continue
            assert (noun in words(right)) == (noun in words(wrong) or plural in words(wrong))
        numbers = [
            max((("two", "three").index(word) + 2 for word in words(text) if word in ("two", "three")), default=1)
            for text in (right, wrong)
        ]
        assert numbers[0] == 1 or numbers[1] > numbers[0]  # "the cones" would be true of three, and of two
        several = [sum(tag == "NNS" for tag in PARSER.parse([text])[0].tags) for text in (right, wrong)]
        assert numbers[1] > numbers[0] or several[1] > several[0]
        assert not scene.layout.is_touching


PLACES = {"left": "left", "right": "right", "above": "above", "over": "above"}
PLACES |= dict.fromkeys(("below", "under", "beneath"), "below")


def test_a_wrong_relation_is_another_one_of_the_same_things(pairs):
    for scene, (right, wrong) in pairs["relation"]:
        assert len(scene.things) == 2  # a third thing may be above one and left of it too
        nouns = [
            [
                lemma
                for lemma, tag in zip(one.lemmas, one.tags, strict=True)
                if tag in ("NN", "NNS") and lemma not in PLACES
            ]
            for one in PARSER.parse([right, wrong])
        ]
        assert nouns[0] == nouns[1]
        places = [{PLACES[word] for word in words(text) if word in PLACES} for text in (right, wrong)]
        if scene.layout.is_touching:
            assert places == [set(), set()]
        else:
            assert [len(place) for place in places] == [1, 1]
            assert ({"left", "right"} >= places[0]) != ({"left", "right"} >= places[1])


def test_exchanged_things_have_the_same_words_in_another_order(pairs):
    for scene, (right, wrong) in pairs["exchanged"]:
        assert sorted(words(right)) == sorted(words(wrong))
        assert len(scene.things) > 1
        first = [
            next(word for word in words(text) if PARSER.parse([word])[0].tags in (["NN"], ["NNS"]))
            for text in (right, wrong)
        ]
        assert first[0] != first[1]


def test_scenes_that_cannot_be_changed_have_no_question_of_that_kind():
    random = np.random.default_rng(1)
    alone = next(one for one in iter(lambda: sample_family(random)[0], None) if one.layout is Layout.ALONE)
    assert say_pairs(alone, "relation", PARSER, [0]) == say_pairs(alone, "exchanged", PARSER, [0]) == []
    three = replace(alone, things=(replace(alone.things[0], number=3),))
    assert say_pairs(three, "number", PARSER, [0]) == []
    pushed = next(one for one in iter(lambda: sample_family(random)[0], None) if one.layout is Layout.PUSH)
    assert say_pairs(pushed, "number", PARSER, [0]) == []


def image_rows(names, splits):
    rows = pd.DataFrame({"image_id": names, "split": splits, "family": [name[:2] for name in names]})
    return rows.assign(source="scenes", file=names, width=8, height=8, sha256="", captions=1, status="ok")


def test_questions_are_about_the_readable_test_images(tmp_path):
    random = np.random.default_rng(2)
    scenes = [scene for _ in range(8) for scene in sample_family(random)][:12]
    with zipfile.ZipFile(tmp_path / "scenes.zip", "w") as file:
        lines = [json.dumps({"image_id": f"s{n:02}", "scene": asdict(scene)}) for n, scene in enumerate(scenes)]
        file.writestr("scenes.jsonl", "\n".join(lines))
    images = image_rows([f"s{n:02}" for n in range(12)], ["train"] * 6 + ["test"] * 6)
    schema.write(images.assign(status=["ok"] * 11 + ["missing"]), IMAGES, tmp_path / "images.parquet")
    paths = [str(tmp_path / f"{name}.parquet") for name in ("questions", "captions")]
    change_scenes(str(tmp_path / "scenes.zip"), str(tmp_path / "images.parquet"), 0, *paths)
    asked, captions = schema.read(paths[0], CHOICES), schema.read(paths[1], CAPTIONS)
    assert set(asked["image"]) == {f"s{n:02}" for n in range(6, 11)}
    assert set(asked["family"]) == {"s0", "s1"}
    assert captions["text"].tolist() == [text for row in asked.itertuples() for text in (row.right, *row.wrong)]
    assert captions["caption_id"].tolist()[:2] == [f"{asked['question'][0]}#{place}" for place in range(2)]
    change_scenes(str(tmp_path / "scenes.zip"), str(tmp_path / "images.parquet"), 1, *paths)
    assert not schema.read(paths[0], CHOICES)["right"].equals(asked["right"])
    with zipfile.ZipFile(tmp_path / "older.zip", "w") as file:
        file.writestr("scenes.jsonl", json.dumps({"image_id": "s06"}))
    with pytest.raises(InputError, match=r"older\.zip, scenes\.jsonl(?s:.*)0\.scene"):
        change_scenes(str(tmp_path / "older.zip"), str(tmp_path / "images.parquet"), 0, *paths)


SENTENCE = "a brown dog chases the small white ball over tall grass"
TAGS = ["DT", "JJ", "NN", "VBZ", "DT", "JJ", "JJ", "NN", "IN", "JJ", "NN"]


def test_orders_are_those_of_aro():
    found = other_orders(SENTENCE.split(), TAGS, np.random.default_rng(0))
    assert list(found) == list(ORDERS)
    nouns, adjectives = {2, 7, 10}, {1, 5, 6, 9}
    kept = [place for place in range(11) if found["nouns and adjectives"][place] == SENTENCE.split()[place]]
    assert {0, 3, 4, 8} <= {*kept}
    for places in (nouns, adjectives):
        of = [{words[place] for place in places} for words in (found["nouns and adjectives"], SENTENCE.split())]
        assert of[0] == of[1]
    others = found["all but nouns and adjectives"]
    assert all(others[place] == SENTENCE.split()[place] for place in nouns | adjectives)
    threes = [sorted(SENTENCE.split()[first : first + 3]) for first in range(0, 11, 3)]
    within = found["words within trigrams"]
    assert [sorted(within[first : first + 3]) for first in range(0, 11, 3)] == threes
    assert all(sorted(words) == sorted(SENTENCE.split()) for words in found.values())
    assert len({tuple(words) for words in found.values()} | {tuple(SENTENCE.split())}) == 5


def test_an_order_that_changes_nothing_is_left_out_and_counted(tmp_path):
    assert list(other_orders(["dogs", "run"], ["NNS", "VBP"], np.random.default_rng(0))) == ["words within trigrams"]
    assert other_orders(["dogs"], ["NNS"], np.random.default_rng(0)) == {}
    texts = {"i0#0": "A Dog runs .", "i1#0": "dogs", "i2#0": SENTENCE, "i3#0": "in training"}
    schema.write(image_rows(["i0", "i1", "i2", "i3"], ["test"] * 3 + ["train"]), IMAGES, tmp_path / "images.parquet")
    captions = pd.DataFrame({"caption_id": [*texts], "text": [*texts.values()], "position": 0})
    captions = captions.assign(image_id=[one[:2] for one in texts], split=["test"] * 3 + ["train"])
    schema.write(captions, CAPTIONS, tmp_path / "captions.parquet")
    tags = [["DT", "NN", "VBZ", "."], ["NNS"], TAGS, ["IN", "NN"]]
    parses = captions[["caption_id", "image_id", "text"]].assign(status="ok", tags=tags, tree="")
    parses = parses.assign(tokens=[text.split() for text in texts.values()], lemmas=[[]] * 4)
    parses = parses.assign(basic_dependencies=[[]] * 4, enhanced_dependencies=[[]] * 4)
    schema.write(parses, PARSES, tmp_path / "parses.parquet")
    inputs = [str(tmp_path / f"{name}.parquet") for name in ("parses", "images", "captions")]
    outputs = [str(tmp_path / f"{name}.parquet") for name in ("questions", "own")]
    change_orders(inputs[0], inputs[1], inputs[2], "all", 0, *outputs)
    asked = schema.read(outputs[0], CHOICES)
    assert asked["question"].tolist() == ["i0#0", "i2#0"]
    assert asked["right"].tolist() == ["a dog runs", SENTENCE]  # as ARO writes its words
    left_out = schema.check(outputs[0], CHOICES).found["left_out"]
    assert left_out["nouns and adjectives"] == 2
    assert left_out["words within trigrams"] == 1
