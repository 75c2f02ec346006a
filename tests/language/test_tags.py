import logging

import pytest

from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS, TAGS
from densevse.language.tags import count_tags, read_tags, write_concepts, write_tags
from snakeproof import schema
from snakeproof.errors import InputError
from tests.language.made_up import write_captions, write_images, write_parses


def test_tags_are_counted_in_training_sentences_only(tmp_path):
    captions = write_captions(tmp_path, {"a#0": "train", "a#1": "train", "b#0": "test"})
    parses = write_parses(
        tmp_path,
        {"a#0": "a/DT brown/JJ dog/NN", "a#1": "two/CD dogs/NNS and/CC a/DT cat/NN", "b#0": "it/PRP"},
    )
    write_tags(captions, [parses], str(tmp_path / "tags.parquet"))
    rows = schema.read(tmp_path / "tags.parquet", TAGS)
    assert rows["tag"].tolist() == ["DT", "NN", "CC", "CD", "JJ", "NNS"]
    assert rows["count"].tolist() == [2, 2, 1, 1, 1, 1]
    tags = read_tags(tmp_path / "tags.parquet")
    assert tags.encode(["DT", "NNS", "PRP"]) == [2, 7, 1]
    assert len(tags) == 8


def test_no_tag_at_all_is_an_error():
    with pytest.raises(InputError, match="no part-of-speech tags"):
        count_tags([[], []])


LEMMAS = {"Dogs": "dog", "dogs": "dog", "runs": "run", "running": "run", "is": "be"}
SENTENCES = {
    "a#0": "Two/CD brown/JJ Dogs/NNS running/VBG ./.",
    "a#1": "A/DT dog/NN runs/VBZ",
    "b#0": "dogs/NNS and/CC a/DT red/JJ ball/NN %/NN",
    "c#0": "red/JJ zebra/NN run/NN",
    "d#0": None,
    "e#0": "the/DT and/CC",
}
SPLITS = {"a": "train", "b": "train", "c": "test", "d": "train", "e": "val"}


def mined(folder, most, splits=SPLITS, sentences=SENTENCES, **status):
    images = write_images(folder, splits, **status)
    half = len(sentences) // 2
    shards = [
        write_parses(folder, dict(part), lemmas=LEMMAS, name=name)
        for name, part in (("one", list(sentences.items())[:half]), ("two", list(sentences.items())[half:]))
    ]
    paths = str(folder / "concepts.parquet"), str(folder / "image_concepts.parquet")
    write_concepts(images, shards, most, *paths)
    concepts = schema.read(paths[0], CONCEPTS)
    rows = schema.read(paths[1], IMAGE_CONCEPTS)
    names = concepts["concept"]
    return concepts, {image: [names[i] for i in found] for image, found in rows.itertuples(index=False)}


def test_lemmas_of_training_nouns_adjectives_verbs_and_numbers(tmp_path):
    concepts, _ = mined(tmp_path, 100)
    rows = concepts.set_index("concept")
    assert rows.index.tolist() == ["dog", "run", "ball", "brown", "red", "two"]
    assert rows["index"].tolist() == list(range(6))
    assert rows.loc["dog", ["kind", "count", "image_count"]].tolist() == ["noun", 3, 2]
    assert list(rows.loc["dog", "forms"]) == ["dogs", "dog"]
    assert rows.loc["run", ["kind", "count", "image_count"]].tolist() == ["verb", 2, 1]
    assert rows.loc[["brown", "two"], "kind"].tolist() == ["adjective", "number"]


MISREAD = {
    "a#0": "Boy/UH runs/VBZ",
    "a#1": "a/DT boy/NN runs/VBZ",
    "b#0": "Brown/NNP Boy/UH boy/UH with/IN Spot/NNP",
    "b#1": "a/DT brown/JJ boy/NN and/CC two/CD dogs/NNS",
    "d#0": "Dogs/NNP run/VBP",
    "d#1": "Spot/NNP wears/VBZ brown/JJ",
    "e#0": "Boy/UH and/CC a/DT spot/NN",
}


def test_first_words_that_look_like_names_are_what_they_are_elsewhere(tmp_path):
    concepts, found = mined(tmp_path, 100, {"a": "train", "b": "train", "d": "train", "e": "val"}, MISREAD)
    rows = concepts.set_index("concept")
    assert rows.loc["boy", ["kind", "count"]].tolist() == ["noun", 3], "inside a sentence an interjection stays one"
    assert rows.loc["brown", ["kind", "count"]].tolist() == ["adjective", 3]
    assert rows.loc["dog", ["kind", "count"]].tolist() == ["noun", 2], "it has the lemma of that form too"
    assert rows.loc["spot", ["kind", "count"]].tolist() == ["noun", 2], "no training caption has it in lower case"
    assert found["e"] == ["boy", "spot"]


def test_the_most_frequent_are_kept(tmp_path):
    concepts, found = mined(tmp_path, 2)
    assert concepts["concept"].tolist() == ["dog", "run"]
    assert found["b"] == ["dog"]


def test_each_readable_image_has_its_concepts_even_none(tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        _, found = mined(tmp_path, 100, c="truncated")
    assert found == {"a": ["dog", "run", "brown", "two"], "b": ["dog", "ball", "red"], "d": [], "e": []}
    assert "2 of 4 images have no concept" in caplog.text


def test_test_images_have_concepts_of_training_only(tmp_path):
    _, found = mined(tmp_path, 100)
    assert found["c"] == ["run", "red"]  # the zebra is in no training sentence


def test_fewer_concepts_than_asked_for_are_all_kept_and_said(tmp_path, caplog):
    with caplog.at_level(logging.WARNING):
        concepts, _ = mined(tmp_path, 256)
    assert len(concepts) == 6
    assert "6 concepts, fewer than the 256" in caplog.text


@pytest.mark.parametrize(
    ("splits", "sentences"),
    [
        ({"a": "test"}, {"a#0": "dog/NN"}),
        ({"a": "train"}, {"a#0": "the/DT"}),
        ({"a": "train"}, {"a#0": None}),
    ],
)
def test_an_empty_vocabulary_is_an_error_that_says_why(tmp_path, splits, sentences):
    with pytest.raises(InputError, match="no noun, adjective, verb or number"):
        mined(tmp_path, 10, splits, sentences)
