"""Vector arithmetic: its answers, their accuracy and their picture."""

from dataclasses import replace
from math import comb

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.arithmetic.arithmetic import (
    ARITHMETIC,
    ARITHMETIC_ACCURACY,
    BY,
    _hit_probability,
    draw_arithmetic,
    write_arithmetic,
    write_table,
)
from densevse.artifacts.schemas.datasets import BOXES
from densevse.artifacts.schemas.features import EMBEDDINGS
from densevse.models.embedding import _NOTHING
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.store import FeatureWriter
from tests.pictures import write_images

COLOURS, SHAPES = ["red", "blue", "green"], ["ball", "box"]
EXCHANGED = {"colour": COLOURS, "shape": SHAPES}
WORDS = {word: np.eye(5, dtype=np.float32)[number] for number, word in enumerate([*COLOURS, *SHAPES])}


@pytest.fixture
def folder(tmp_path):
    """One image of each colour and shape, twice; an image is the sum of its words, so that arithmetic is right."""
    names = [(colour, shape) for colour in COLOURS for shape in SHAPES] * 2
    ids = [f"{number}-{colour}-{shape}" for number, (colour, shape) in enumerate(names)]
    rows = pd.DataFrame({**_NOTHING, "kind": "image", "image_id": ids, "rank": 0})
    words = pd.DataFrame({**_NOTHING, "kind": "word", "text": list(WORDS)})
    every = pd.concat([rows, words], ignore_index=True)
    every = every.astype({"start": "int32", "end": "int32", "rank": "int32"} | dict.fromkeys(BOX, "float32"))
    vectors = np.array([WORDS[colour] + WORDS[shape] for colour, shape in names] + list(WORDS.values()))
    with FeatureWriter(tmp_path / "embeddings.parquet", EMBEDDINGS, (5,), np.float16) as file:
        file.append(every, vectors)
    boxes = pd.DataFrame({"image_id": ids, "phrase": [f"small {colour} {shape}" for colour, shape in names]})
    boxes = boxes.assign(caption_id="", start=-1, end=-1, x=0.0, y=0.0, width=1.0, height=1.0)
    schema.write(boxes, replace(BOXES, rules=()), tmp_path / "boxes.parquet")
    write_images(tmp_path, ids)
    return tmp_path


BOX = ["x", "y", "width", "height"]


def found(folder, exchanged, named=(), boxes=True):
    path = folder / "found.parquet"
    given = {"boxes": str(folder / "boxes.parquet")} if boxes else {}
    write_arithmetic(str(folder / "embeddings.parquet"), exchanged, list(named), str(path), **given)
    return schema.read(path, ARITHMETIC)


def test_the_arithmetic_finds_the_object_with_the_word_exchanged(folder):
    rows = found(folder, EXCHANGED)
    assert rows.groupby("kind")["image_id"].nunique().to_dict() == {"colour": 12, "shape": 12}
    assert (rows["image_id"] != rows["found"]).all()
    best = rows[(rows["by"] == "arithmetic") & (rows["rank"] <= 2)]  # two images of each kind are right
    assert best["right"].all()
    blue = rows[(rows["image_id"] == "2-blue-ball") & (rows["kind"] == "colour") & (rows["by"] == "arithmetic")]
    assert blue[["minus", "plus"]].iloc[0].tolist() == ["blue", "green"]
    assert set(blue["found"].head(2)) == {"4-green-ball", "10-green-ball"}
    assert set(rows["all_right"]) == {2}
    assert set(rows["ranked"]) == {11}


def test_the_image_alone_and_the_word_alone_are_sanity_checks(folder):
    rows = found(folder, {"colour": COLOURS})
    first = rows[rows["rank"] == 1].set_index(["by", "image_id"])
    assert not first.loc["image", "right"].any()  # the other image of the same object
    assert first.loc[("word", "0-red-ball"), "found"] in ("2-blue-ball", "3-blue-box")


def test_accuracies_have_chance_and_intervals_beside_them(folder):
    found(folder, EXCHANGED)
    paths = tuple(str(folder / f"table.{end}") for end in ("parquet", "md", "html", "tex"))
    arguments = str(folder / "found.parquet"), str(folder / "images.parquet")
    write_table(*arguments, "Arithmetic", *paths)
    rows = schema.read(paths[0], ARITHMETIC_ACCURACY).set_index(["kind", "by", "first"])
    of_arithmetic = rows.loc[("colour", "arithmetic", 1)]
    assert (of_arithmetic["accuracy"], of_arithmetic["low"], of_arithmetic["high"]) == (1, 1, 1)
    assert of_arithmetic["chance"] == pytest.approx(2 / 11)
    assert rows.loc[("colour", "image", 1), "accuracy"] == 0
    assert rows.loc[("colour", "image", 1), ["gain", "gain_low", "gain_high"]].tolist() == [1, 1, 1]
    assert "## colour: 12 queries" in (folder / "table.md").read_text()
    assert "<h2>colour: 12 queries</h2>" in (folder / "table.html").read_text()


def test_named_queries_need_no_boxes(folder):
    rows = found(folder, {}, [["0-red-ball", "ball", "box"]], boxes=False)
    assert rows["right"].isna().all()
    assert set(rows["all_right"]) == {-1}
    assert set(rows.loc[rows["by"] == "arithmetic", "found"].head(2)) == {"1-red-box", "7-red-box"}


def test_a_table_needs_queries_whose_answers_are_known(folder):
    found(folder, {}, [["0-red-ball", "ball", "box"]], boxes=False)
    paths = tuple(str(folder / f"table.{end}") for end in ("parquet", "md", "html", "tex"))
    with pytest.raises(InputError, match=r"set arithmetic\.<data set>\.exchanged"):
        write_table(str(folder / "found.parquet"), str(folder / "images.parquet"), "Arithmetic", *paths)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (["nowhere", "red", "blue"], "no image 'nowhere'"),
        (["0-red-ball", "red", "purple"], "does not know the word 'purple'"),
        (["0-red-ball", "pink", "blue"], "does not know the word 'pink'"),
    ],
)
def test_a_query_of_something_unknown_is_refused_by_name(folder, query, message):
    with pytest.raises(InputError, match=message):
        found(folder, {}, [query], boxes=False)


def test_no_query_at_all_is_an_error(folder):
    with pytest.raises(InputError, match="there are no queries"):
        found(folder, {}, boxes=False)


def test_chance_is_that_of_a_random_order():
    right, ranked = np.array([0, 2, 9, 10]), np.array([10, 10, 10, 10])
    expected = [1 - comb(10 - r, 3) / comb(10, 3) for r in right]
    np.testing.assert_allclose(_hit_probability(right, ranked, 3), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["colour", "named"])
def test_queries_are_drawn_with_their_answers(kind, tmp_path):
    ids = list("0123")
    images = write_images(tmp_path, ids, drawn=True)
    rows = [
        {"image_id": asked, "kind": kind, "minus": "red", "plus": "blue", "by": by, "rank": rank, "found": answer}
        for asked in ids[:2]
        for by in BY
        for rank, answer in enumerate([name for name in ids if name != asked], 1)
    ]
    right = pd.array([None if kind == "named" else True] * len(rows), dtype="boolean")
    frame = pd.DataFrame(rows).assign(score=0.5, right=right, all_right=1, ranked=3)
    schema.write(frame, ARITHMETIC, tmp_path / "found.parquet")
    path = tmp_path / "figure.png"
    draw_arithmetic(str(tmp_path / "found.parquet"), images, {"images": str(tmp_path / "images")}, "VSE", str(path))
    pixels = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3).astype(int)
    green = (pixels[:, 1] > pixels[:, 0] + 60).mean()  # the frames of right answers
    assert (green > 0.001) == (kind == "colour")
