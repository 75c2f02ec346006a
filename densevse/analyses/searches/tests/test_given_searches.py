"""Searches of given rows: with the test split's sentences and images, and with sentences whose vectors are given."""

import numpy as np
import pandas as pd
import pytest

from densevse.analyses.searches.schemas import FOUND
from densevse.analyses.searches.searching import Question, write_given_answers
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.config.given import GivenLayout
from densevse.runtime.errors import InputError

DOT = GivenLayout(similarity="dot")
# Five images with two sentences each; whole numbers, so that many scores are equal.
IMAGE_VECTORS = np.random.default_rng(0).integers(-2, 3, (5, 3)).astype(np.float32)
SENTENCE_VECTORS = np.random.default_rng(1).integers(-2, 3, (10, 3)).astype(np.float32)


@pytest.fixture
def ask(tmp_path):
    """A function that searches the given vectors, and returns the answers."""
    ids = [f"i{number}" for number in range(5)]
    images = pd.DataFrame({"image_id": ids, "source": "images", "file": ids, "split": "test", "captions": 2})
    images = images.assign(width=8, height=8, sha256="", family=ids, status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    captions = images.loc[images.index.repeat(2), ["image_id", "split"]].reset_index(drop=True)
    captions["position"] = captions.groupby("image_id").cumcount()
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    schema.write(captions.assign(text="about " + captions["image_id"]), CAPTIONS, tmp_path / "captions.parquet", {})

    def answers(question, layout=DOT, **arrays):
        arrays = {"images": IMAGE_VECTORS, "sentences": SENTENCE_VECTORS, **arrays}
        files = {"image_table": "images.parquet", "caption_table": "captions.parquet"}
        for key, array in arrays.items():
            np.save(tmp_path / f"{key}.npy", array)
            files[key] = f"{key}.npy"
        paths = {key: str(tmp_path / file) for key, file in files.items()}
        settings = {"layout": layout.model_dump(mode="json"), "question": question._asdict(), "contents": ["digest"]}
        write_given_answers(**settings, output=str(tmp_path / "found.parquet"), threads=1, **paths)
        return schema.read(tmp_path / "found.parquet", FOUND)

    return answers


def best(scores, top):
    """The places of the best scores; of equal ones the earlier."""
    return sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:top]


def test_sentences_of_the_split_are_asked_of_its_images(ask):
    found = ask(Question("all", 3, caption_ids=["i3#1", "i0#0"]))
    scores = SENTENCE_VECTORS[[7, 0]] @ IMAGE_VECTORS.T
    assert found["query"].tolist() == [0] * 3 + [1] * 3
    assert found["rank"].tolist() == [1, 2, 3] * 2
    assert found["image_id"].tolist() == [f"i{row}" for query in scores for row in best(query, 3)]
    assert found["score"].tolist() == [query[row] for query in scores for row in best(query, 3)]
    assert found["text"].tolist() == ["about i3"] * 3 + ["about i0"] * 3
    assert not any(map(len, found["unknown_words"]))


def test_images_of_the_split_are_asked_of_its_sentences(ask):
    found = ask(Question("all", 4, image_ids=["i2"]))
    expected = best(IMAGE_VECTORS[2] @ SENTENCE_VECTORS.T, 4)
    assert found["caption_id"].tolist() == [f"i{row // 2}#{row % 2}" for row in expected]
    assert found["image_id"].unique().tolist() == ["i2"]


def test_sentences_of_ones_own_are_asked_by_their_vectors(ask):
    own = np.array([[1, 0, 0], [0, -2, 1]], np.float32)
    found = ask(Question("all", 2, sentences=["a dog", "a cat"]), vectors=own)
    assert found["image_id"].tolist() == [f"i{row}" for query in own @ IMAGE_VECTORS.T for row in best(query, 2)]
    assert found["caption_id"].tolist() == ["#0", "#0", "#1", "#1"]
    assert found["text"].tolist() == ["a dog", "a dog", "a cat", "a cat"]


def test_the_similarity_and_the_copies_of_a_row_hold_in_its_searches(ask):
    vectors = IMAGE_VECTORS + 0.5
    layout = GivenLayout(similarity="cosine", copies=2)
    found = ask(Question("all", 5, caption_ids=["i1#0"]), layout, images=vectors.repeat(2, axis=0))
    cosine = vectors @ SENTENCE_VECTORS[2] / np.linalg.norm(vectors, axis=1) / np.linalg.norm(SENTENCE_VECTORS[2])
    assert found["image_id"].tolist() == [f"i{row}" for row in np.argsort(-cosine)]
    assert found["score"].to_numpy() == pytest.approx(np.sort(cosine)[::-1], abs=1e-6)


@pytest.mark.parametrize(
    ("question", "arrays", "message"),
    [
        ({"image_ids": ["i1", "i9"]}, {}, "image_ids: the search names i9, which the test split does not have"),
        ({"caption_ids": ["i1#2"]}, {}, r"caption_ids: .* i1#2, .* column caption_id of captions\.parquet"),
        ({"sentences": ["a dog"]}, {"vectors": np.ones((2, 3))}, r"vectors\.npy: expected 1 x 3, .* found 2 x 3"),
        ({"sentences": ["a dog"]}, {"vectors": np.full((1, 3), np.nan)}, r"vectors\.npy: row 0, column 0 is not a"),
        ({"image_ids": ["i1"]}, {"images": np.ones((4, 3))}, r"images\.npy: expected 5 x 3"),
    ],
)
def test_what_does_not_fit_is_named(ask, question, arrays, message):
    with pytest.raises(InputError, match=message):
        ask(Question("all", 1, **question), **arrays)
