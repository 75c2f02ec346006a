"""A search of a given row refuses the vectors that `densevse evaluate` refuses (tests/artifacts/test_vectors.py)."""

import numpy as np
import pytest

from densevse.analyses.searches.searching import FOUND, write_given_answers
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.evaluation.test_given import write_tables

COUNT, LENGTH, WRONG = 20, 6, 12
GOOD = np.random.default_rng(0).normal(size=(COUNT, LENGTH)).astype(np.float32)


def with_row(value):
    found = GOOD.copy()
    found[WRONG] = value
    return found


def search(folder, images, similarity="cosine", own=None):
    """The answers among images with these vectors to a sentence of the test split, or to own ones with vectors."""
    write_tables(folder, [1] * COUNT)
    files = {"image_table": str(folder / "images.parquet"), "caption_table": str(folder / "captions.parquet")}
    question = {"ranked_sentences": "all", "top": 3, "caption_ids": ["i3#0"]}
    given = {"images": images, "sentences": GOOD}
    if own is not None:
        given["vectors"] = own
        question = {"ranked_sentences": "all", "top": 3, "sentences": [f"a dog {n}" for n in range(len(own))]}
    for key, vectors in given.items():
        files[key] = str(folder / f"{key}.npy")
        np.save(files[key], vectors)
    with making(Statement(wildcards={"search": "s"})):
        write_given_answers({"similarity": similarity}, question, folder / "found.parquet", **files)
    return schema.read(folder / "found.parquet", FOUND)


def test_good_vectors_and_zero_points_of_other_similarities_are_searched(tmp_path):
    assert len(search(tmp_path, GOOD)) == 3
    assert len(search(tmp_path, GOOD, own=GOOD[:11])) == 33
    for similarity in ("dot", "order"):
        assert len(search(tmp_path, with_row(0), similarity)) == 3


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (with_row(np.nan), rf"row {WRONG}, column 0 is not a number"),
        (with_row(np.inf), rf"row {WRONG}, column 0 is inf"),
        (with_row(0), rf"row {WRONG} is zero, which has no cosine; correct it"),
        (np.tile(GOOD[:1], (COUNT, 1)), "all 20 vectors are the same, so that nothing can be told apart"),
    ],
)
def test_bad_vectors_are_refused_by_their_row(tmp_path, vectors, message):
    with pytest.raises(InputError, match=rf"images\.npy: {message}"):
        search(tmp_path, vectors)
    with pytest.raises(InputError, match=rf"vectors\.npy: {message}"):
        search(tmp_path, GOOD, own=vectors)
