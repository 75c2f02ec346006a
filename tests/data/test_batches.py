import logging
from dataclasses import fields

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES, IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.sentences import PARSES, TOKENS, WORD_VECTORS
from densevse.data.inputs import Inputs
from densevse.data.ragged import Ragged, RaggedNumbers
from densevse.data.views.regions import RegionsOfImages
from densevse.data.views.vectors import VectorsOfImages
from densevse.language.tags import write_tags
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureStore, FeatureWriter
from tests.device.files import files_of
from tests.device.miniature import write_everything


@pytest.fixture
def made(tmp_path):
    """The folder of the miniature data set with every structure."""
    write_everything(tmp_path)
    return tmp_path


@pytest.fixture
def with_trees(folder, files):
    regions, parses = [str(folder / "regions.parquet")], [str(folder / "parses.parquet")]
    return files.replace_inputs(view_whole=[], view_regions=regions, parses=parses)


def opened(files, *sentences):
    return Inputs(files, sentences or ("words", "trees"))


def correspondences(folder, **changes):
    row = {"caption_id": "train1#0", "image_id": "train1", "phrase": "", "start": 0, "region": 1, "confidence": 0.5}
    captions = schema.read(folder / "captions.parquet", CAPTIONS).set_index("caption_id")
    row["end"] = len(captions.loc["train1#0", "text"].split()) - 2
    rows = [{**row, "x": 0, "y": 0, "width": 1, "height": 1, **changes}]
    schema.write(pd.DataFrame(rows), CORRESPONDENCES, folder / "correspondences.parquet")
    return str(folder / "correspondences.parquet")


def test_ragged():
    lists = Ragged.from_lengths([2, 0, 3])
    items, owner, place = lists.take(np.array([2, 1, 0, 2]))
    assert items.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert owner.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert place.tolist() == [0, 1, 2, 0, 1, 0, 1, 2]


def test_numbers_of_lists_may_be_found_in_any_order():
    found = [(2, [[5, 50], [6, 60]]), (0, []), (3, np.array([[7, 70]])), (1, [[1, -10]])]
    numbers = RaggedNumbers.from_lists(4, 2, iter(found))
    assert numbers.rows.dtype == np.int32
    assert numbers.rows.tolist() == [[1, -10], [5, 50], [6, 60], [7, 70]]
    columns, owner, place = numbers.take(np.array([3, 2, 0, 1]))
    assert columns.dtype == np.int64
    assert columns.tolist() == [[7, 5, 6, 1], [70, 50, 60, -10]]
    assert owner.tolist() == [0, 1, 1, 3]
    assert place.tolist() == [0, 0, 1, 0]
    assert RaggedNumbers.from_lists(2, 3, iter([])).take(np.array([0, 1]))[0].shape == (3, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(index=3), "caption '{}' is not among the tokens; delete these"),
        (lambda rows: pd.concat([rows, rows.loc[[3]]]), "caption '{}' is twice among the tokens; delete these"),
    ],
)
def test_each_sentence_has_its_tokens_once(folder, files, change, message):
    tokens = schema.read(folder / "tokens.parquet", TOKENS)
    schema.write(change(tokens), TOKENS, folder / "other.parquet")
    with pytest.raises(InputError, match=message.format(tokens["caption_id"][3])):
        opened(files.replace_inputs(tokens=str(folder / "other.parquet")), "words").pairs("train")


@pytest.mark.parametrize("structure", ["words", "trees", "triplets", "tags", "dependencies"])
def test_a_sentence_is_read_the_same_wherever_its_row_stands(made, monkeypatch, structure):
    """However the shards are cut, in whatever order, and however many rows are read at once."""
    files = files_of(made, ["whole"], [structure], "enhanced", False)
    whole = opened(files, structure).pairs("train")
    every = np.arange(len(whole.rows.caption_ids))
    expected = whole.sentences(every)[structure]
    monkeypatch.setattr("snakeproof.schema.PART_ROWS", 3)
    name, kind = ("tokens", TOKENS) if structure == "words" else ("parses", PARSES)
    rows = schema.read(made / f"{name}.parquet", kind).iloc[::-1]
    for part, some in enumerate(np.array_split(np.arange(len(rows)), 1 if name == "tokens" else 2)):
        schema.write(rows.iloc[some], kind, made / f"turned{part}.parquet")
    turned = [str(path) for path in sorted(made.glob("turned*.parquet"))]
    found = opened(files.replace_inputs(**{name: turned}), structure).pairs("train").sentences(every)[structure]
    for field in fields(expected):
        assert np.array_equal(getattr(found, field.name), getattr(expected, field.name)), field.name


def test_batch_pairs_each_sentence_with_its_image(files):
    inputs = opened(files, "words")
    pairs = inputs.pairs("train")
    store = FeatureStore(files.view("whole"), IMAGE_FEATURES)
    chosen = np.array([5, 0, 4, 7])
    batch = pairs.batch(chosen)
    captions = inputs.captions.set_index("caption_id")
    for row, caption_id in enumerate(pairs.rows.caption_ids[chosen]):
        image_id = captions.loc[caption_id, "image_id"]
        stored = store.gather(np.flatnonzero(store.rows["image_id"] == image_id))[0]
        assert np.allclose(batch.images.views["whole"][row], stored)
        given = batch.sentences["words"]
        words = given.index[row, : given.lengths[row]]
        tokens = inputs.sentence_tokens(np.array([caption_id]))[0]
        assert words.tolist() == inputs.vocabulary.encode(tokens)
        assert not given.index[row, given.lengths[row] :].any()
    images = pairs.rows.image_of_caption[chosen]
    assert batch.positives.tolist() == [[one == other for other in images] for one in images]
    assert batch.positives.sum() > len(chosen)  # two of them are of one image


def test_splits_do_not_mix(files):
    inputs = opened(files, "words")
    assert all(name.startswith("val") for name in inputs.pairs("val").rows.image_ids)
    assert len(inputs.pairs("val").rows.image_ids) == 4


def test_regions_are_padded_and_marked(with_trees):
    pairs = opened(with_trees).pairs("train")
    images = pairs.images(np.arange(12))
    assert images.views["regions"].shape == (12, 4, 6)
    assert images.present.sum(dim=1).tolist() == [1 + i % 4 for i in range(12)]
    assert (images.views["regions"][~images.present] == 0).all()
    assert images.views["regions"][images.present].abs().sum(dim=1).gt(0).all()


def test_an_image_without_features_is_named(folder, files):
    store = FeatureStore(files.view("whole"), IMAGE_FEATURES)
    with pytest.raises(InputError, match="'unknown'"):
        VectorsOfImages(store, ["train0", "unknown"], "whole")


def test_ranks_must_count_up(folder):
    rows = pd.DataFrame({"image_id": ["a", "a"], "rank": [0, 2], "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0})
    with FeatureWriter(folder / "odd.parquet", REGION_FEATURES, (2,), np.float16) as file:
        file.append(rows.assign(score=1.0, class_name=""), np.zeros((2, 2)))
    with pytest.raises(InputError, match="ranks"):
        RegionsOfImages(FeatureStore([folder / "odd.parquet"], REGION_FEATURES), ["a"], "regions")


def test_trees_are_numbered_together(with_trees):
    inputs = opened(with_trees)
    pairs = inputs.pairs("train")
    chosen = np.array([3, 1, 2])
    sentences = pairs.sentences(chosen)
    trees = sentences["trees"]
    assert (trees.parent == -1).sum() == 3
    assert (np.flatnonzero(trees.parent == -1) == trees.root).all()
    assert (trees.parent[trees.parent >= 0] > np.flatnonzero(trees.parent >= 0)).all()
    leaves = trees.word[trees.word >= 0]
    given = sentences["words"]
    words = [row[:length].tolist() for row, length in zip(given.index, given.lengths, strict=True)]
    assert leaves.tolist() == [word for sentence in words for word in sentence]


def test_a_sentence_that_could_not_be_parsed_is_flat_and_told(with_trees, caplog):
    with caplog.at_level(logging.WARNING, logger="densevse"):
        pairs = opened(with_trees).pairs("train")
    assert "1 of " in caplog.text
    assert pairs.rows.caption_ids[0] in caplog.text
    trees = pairs.sentences(np.array([0]))["trees"]
    assert (trees.parent[:-1] == len(trees.parent) - 1).all()
    assert not trees.noun_phrase.any()


def test_phrases_find_their_nodes(folder, with_trees):
    pairs = opened(with_trees.replace_inputs(correspondences=correspondences(folder))).pairs("train")
    row = int(np.flatnonzero(pairs.rows.caption_ids == "train1#0")[0])
    batch = pairs.batch(np.array([0, row, row]))
    found = batch.correspondences
    assert found.sentence.tolist() == [1, 2]
    assert found.region.tolist() == [1, 1]
    assert found.weight.tolist() == [0.5, 0.5]
    assert batch.sentences["trees"].noun_phrase[found.node.numpy()].all()
    assert pairs.batch(np.array([0])).correspondences.node.shape == (0,)


def test_only_the_whole_image_and_the_assigned_regions_are_read(folder, with_trees):
    inputs = opened(with_trees.replace_inputs(correspondences=correspondences(folder, region=1)))
    every, some = inputs.pairs("train"), inputs.pairs("train", regions="assigned")
    row = int(np.flatnonzero(every.rows.caption_ids == "train1#0")[0])
    chosen = np.array([0, row, 3])
    whole, less = every.batch(chosen), some.batch(chosen)
    assert less.images.views["regions"].shape[1] == 2 < whole.images.views["regions"].shape[1]
    assert torch.equal(less.images.views["regions"][:, 0], whole.images.views["regions"][:, 0])
    assert less.images.present.tolist() == [[True, False], [True, True], [True, False]]
    of_phrase = [
        batch.images.views["regions"][batch.correspondences.sentence, batch.correspondences.region]
        for batch in (whole, less)
    ]
    assert torch.equal(*of_phrase)
    assert some.images(np.array([1, 2])).views["regions"].shape[1] == 1
    assert inputs.pairs("val", regions="assigned").batch(np.array([0])).correspondences is None


def test_phrases_of_other_parses_are_named(folder, with_trees):
    files = with_trees.replace_inputs(correspondences=correspondences(folder, end=99))
    with pytest.raises(InputError, match="train1#0"):
        opened(files).pairs("train")


def test_correspondences_need_trees(folder, with_trees):
    files = with_trees.replace_inputs(correspondences=correspondences(folder))
    with pytest.raises(InputError, match="must hold trees"):
        opened(files, "words").pairs("train")


def test_an_input_that_the_rule_does_not_have_is_named(files):
    with pytest.raises(InputError, match="no input parses"):
        opened(files, "trees").pairs("train")


def test_a_structure_that_does_not_exist_is_named(files):
    with pytest.raises(InputError, match="'melodies'"):
        opened(files, "melodies").pairs("train")


def test_word_vectors_follow_the_vocabulary(folder, files):
    rows = [{"index": 4, "word": "cat", "found": True, "vector": [1.0, 2.0]}]
    schema.write(pd.DataFrame(rows), WORD_VECTORS, folder / "vectors.parquet")
    vectors = opened(files.replace_inputs(word_vectors=str(folder / "vectors.parquet")), "words").shapes().word_vectors
    assert vectors.shape == (11, 2)
    assert vectors[4].tolist() == [1, 2]
    assert torch.count_nonzero(vectors) == 2


def test_tags_stand_beside_their_words(folder, with_trees):
    parses = schema.read(folder / "parses.parquet", PARSES)
    parses["tags"] = [["NN"] * (len(tokens) - 1) + ["."] * (len(tokens) > 0) for tokens in parses["tokens"]]
    schema.write(parses, PARSES, folder / "parses.parquet")
    paths = [str(folder / f"{name}.parquet") for name in ("captions", "parses", "tags")]
    write_tags(paths[0], [paths[1]], paths[2])
    inputs = opened(with_trees.replace_inputs(tags=paths[2]), "tags", "words")
    assert inputs.shapes().sizes == {"tags": 4}
    sentences = inputs.pairs("train").sentences(np.array([3, 0]))
    tags, words = sentences["tags"], sentences["words"]
    assert torch.equal(tags.words, words.index)
    assert torch.equal(tags.lengths, words.lengths)
    lengths = words.lengths.tolist()
    assert tags.tags[0, : lengths[0]].tolist() == [2] * (lengths[0] - 1) + [3]
    assert tags.tags[1, : lengths[1]].tolist() == [1] * lengths[1]  # not parsed
    assert ((tags.tags > 0) == (words.index > 0)).all()
