import logging
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import torch

from densevse.artifacts import schema
from densevse.artifacts.schemas.correspondences import CORRESPONDENCES
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import IMAGE_FEATURES, REGION_FEATURES
from densevse.artifacts.schemas.vocabulary import WORD_VECTORS
from densevse.artifacts.store import FeatureStore, FeatureWriter
from densevse.errors import InputError
from densevse.training.data import Inputs
from densevse.training.features import Features
from densevse.training.ragged import Ragged


@pytest.fixture
def with_trees(folder, files):
    return replace(
        files, features={"regions": [str(folder / "regions.parquet")]}, parses=[str(folder / "parses.parquet")]
    )


def correspondences(folder, **changes):
    row = {"caption_id": "train1#0", "image_id": "train1", "phrase": "", "start": 0, "region": 1, "confidence": 0.5}
    captions = schema.read(folder / "captions.parquet", CAPTIONS).set_index("caption_id")
    row["end"] = len(captions.loc["train1#0", "text"].split()) - 2
    rows = [{**row, "x": 0, "y": 0, "width": 1, "height": 1, **changes}]
    schema.write(pd.DataFrame(rows), CORRESPONDENCES, folder / "correspondences.parquet", {})
    return str(folder / "correspondences.parquet")


def test_ragged():
    lists = Ragged.of_lengths([2, 0, 3])
    items, owner, place = lists.take(np.array([2, 1, 0, 2]))
    assert items.tolist() == [2, 3, 4, 0, 1, 2, 3, 4]
    assert owner.tolist() == [0, 0, 0, 2, 2, 3, 3, 3]
    assert place.tolist() == [0, 1, 2, 0, 1, 0, 1, 2]


def test_batch_pairs_each_sentence_with_its_image(files):
    inputs = Inputs(files)
    pairs = inputs.pairs("train")
    store = FeatureStore(files.features["whole"], IMAGE_FEATURES)
    chosen = np.array([5, 0, 4, 7])
    batch = pairs.batch(chosen)
    captions = inputs.captions.set_index("caption_id")
    for row, caption_id in enumerate(pairs.rows.caption_ids[chosen]):
        image_id = captions.loc[caption_id, "image_id"]
        stored = store.gather(np.flatnonzero(store.rows["image_id"] == image_id))[0]
        assert np.allclose(batch.images.views["whole"][row], stored)
        words = batch.sentences.words[row, : batch.sentences.lengths[row]]
        text = captions.loc[caption_id, "text"].lower().split()
        assert words.tolist() == inputs.vocabulary.encode(text)
        assert not batch.sentences.words[row, batch.sentences.lengths[row] :].any()
    images = pairs.rows.image_of_caption[chosen]
    assert batch.positives.tolist() == [[one == other for other in images] for one in images]
    assert batch.positives.sum() > len(chosen)  # two of them are of one image


def test_splits_do_not_mix(files):
    inputs = Inputs(files)
    assert all(name.startswith("val") for name in inputs.pairs("val").rows.image_ids)
    assert len(inputs.pairs("val").rows.image_ids) == 4


def test_regions_are_padded_and_marked(with_trees):
    pairs = Inputs(with_trees).pairs("train")
    images = pairs.images(np.arange(12))
    assert images.views["regions"].shape == (12, 4, 6)
    assert images.present.sum(dim=1).tolist() == [1 + i % 4 for i in range(12)]
    assert (images.views["regions"][~images.present] == 0).all()
    assert images.views["regions"][images.present].abs().sum(dim=1).gt(0).all()


def test_an_image_without_features_is_named(folder, files):
    store = FeatureStore(files.features["whole"], IMAGE_FEATURES)
    with pytest.raises(InputError, match="'unknown'"):
        Features(store, ["train0", "unknown"], "whole")


def test_ranks_must_count_up(folder):
    rows = pd.DataFrame({"image_id": ["a", "a"], "rank": [0, 2], "x": 0.0, "y": 0.0, "width": 1.0, "height": 1.0})
    with FeatureWriter(folder / "odd.parquet", REGION_FEATURES, (2,), np.float16, {}) as file:
        file.append(rows.assign(score=1.0, class_name=""), np.zeros((2, 2)))
    with pytest.raises(InputError, match="ranks"):
        Features(FeatureStore([folder / "odd.parquet"], REGION_FEATURES), ["a"], "regions")


def test_trees_are_numbered_together(with_trees):
    inputs = Inputs(with_trees)
    pairs = inputs.pairs("train")
    chosen = np.array([3, 1, 2])
    sentences = pairs.sentences(chosen)
    trees = sentences.trees
    assert (trees.parent == -1).sum() == 3
    assert (np.flatnonzero(trees.parent == -1) == trees.root).all()
    assert (trees.parent[trees.parent >= 0] > np.flatnonzero(trees.parent >= 0)).all()
    leaves = trees.word[trees.word >= 0]
    words = [row[:length].tolist() for row, length in zip(sentences.words, sentences.lengths, strict=True)]
    assert leaves.tolist() == [word for sentence in words for word in sentence]


def test_a_sentence_that_could_not_be_parsed_is_flat_and_told(with_trees, caplog):
    with caplog.at_level(logging.WARNING, logger="densevse"):
        pairs = Inputs(with_trees).pairs("train")
    assert "1 of " in caplog.text
    assert pairs.rows.caption_ids[0] in caplog.text
    trees = pairs.sentences(np.array([0])).trees
    assert (trees.parent[:-1] == len(trees.parent) - 1).all()
    assert not trees.noun_phrase.any()


def test_phrases_find_their_nodes(folder, with_trees):
    pairs = Inputs(replace(with_trees, correspondences=correspondences(folder))).pairs("train")
    row = int(np.flatnonzero(pairs.rows.caption_ids == "train1#0")[0])
    sentences = pairs.sentences(np.array([0, row, row]))
    found = sentences.correspondences
    assert found.sentence.tolist() == [1, 2]
    assert found.region.tolist() == [1, 1]
    assert found.weight.tolist() == [0.5, 0.5]
    assert sentences.trees.noun_phrase[found.node.numpy()].all()
    assert pairs.sentences(np.array([0])).correspondences.node.shape == (0,)


def test_phrases_of_other_parses_are_named(folder, with_trees):
    with pytest.raises(InputError, match="train1#0"):
        Inputs(replace(with_trees, correspondences=correspondences(folder, end=99))).pairs("train").sentences(
            np.array([0])
        )


def test_word_vectors_follow_the_vocabulary(folder, files):
    rows = [{"index": 4, "word": "cat", "found": True, "vector": [1.0, 2.0]}]
    schema.write(pd.DataFrame(rows), WORD_VECTORS, folder / "vectors.parquet", {})
    vectors = Inputs(replace(files, word_vectors=str(folder / "vectors.parquet"))).shapes().word_vectors
    assert vectors.shape == (11, 2)
    assert vectors[4].tolist() == [1, 2]
    assert torch.count_nonzero(vectors) == 2
