"""Contracts: every value of a kind, good, odd or bad, goes through every reader, and comes out in the same way."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.config.readers import READERS
from densevse.datasets.given_boxes import write_given_boxes
from densevse.datasets.readers import write_dataset
from densevse.datasets.true_boxes import write_boxes
from snakeproof import schema
from snakeproof.errors import InputError
from tests.datasets.reader_examples import EXAMPLES, Contents, coco, contents, write_files
from tests.datasets.reader_examples import IMAGES as COUNT
from tests.projects import ROOT

FORMATS = [(reader, form) for reader, forms in EXAMPLES.items() for form in forms]
PICTURED = [(reader, form) for reader, form in FORMATS if READERS[reader].HAS_PICTURES]
EVERY_READER = pytest.mark.parametrize(("reader", "form"), FORMATS)
EVERY_PICTURED_READER = pytest.mark.parametrize(("reader", "form"), PICTURED)


def written(folder: Path, reader: str, form: str, found: Contents, **more: Any) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The image table and the caption table that the job writes of an example."""
    options, paths = EXAMPLES[reader][form](folder / "data", found)
    return job(folder, {"reader": reader, "options": options, **more}, paths)


def job(folder: Path, reading: dict[str, Any], paths: dict[str, str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    tables = [str(folder / name) for name in ("images.parquet", "captions.parquet")]
    write_dataset(reading, paths, *tables, 1)
    return schema.read(tables[0], IMAGES), schema.read(tables[1], CAPTIONS)


def test_every_reader_of_the_project_has_an_example() -> None:
    own = {
        name
        for name, kind in READERS.items()
        if (ROOT / kind.IMPLEMENTATION.replace(".", "/")).with_suffix(".py").is_file()
    }
    assert own == EXAMPLES.keys()


# --- sentences ---------------------------------------------------------------------------------------------------

GOOD_SENTENCES = {
    "A dog runs .": "A dog runs .",
    "A dog <i>runs</i> over the <b>grass</b> .": "A dog runs over the grass .",
    "Salt &amp; pepper &lt;here&gt; .": "Salt & pepper <here> .",
    "&amp;amp; once": "&amp; once",
    "a < b and b > c": "a < b and b > c",
    "I <3 dogs, <PERSON> and <unk> .": "I <3 dogs, <PERSON> and <unk> .",
    "null": "null",
    "NA": "NA",
    "007": "007",
    "caf\u00e9 \u732b \U0001f415 .": "caf\u00e9 \u732b \U0001f415 .",
    'A "quoted" dog, here; and | there': 'A "quoted" dog, here; and | there',
    "It's [a] (dog)": "It's [a] (dog)",
    "-": "-",
}
BAD_SENTENCES = ["[['A dog .'], ['A cat .']]", "['A dog .', 'A cat .']", '["A dog ."]', "('A dog .', \"A cat .\")"]


@EVERY_READER
def test_good_and_odd_sentences(tmp_path: Path, reader: str, form: str) -> None:
    _, captions = written(tmp_path, reader, form, contents(sentences=dict(enumerate(GOOD_SENTENCES))))
    assert len(captions) == 5 * COUNT
    found = captions[~captions["text"].str.startswith("Sentence ")]
    assert sorted(found["text"]) == sorted(GOOD_SENTENCES.values())
    assert (found["position"] == 0).all()


@EVERY_READER
@pytest.mark.parametrize("text", BAD_SENTENCES)
def test_bad_sentences_are_named_with_their_image(tmp_path: Path, reader: str, form: str, text: str) -> None:
    with pytest.raises(InputError, match=r"its text is a list of sentences; write a row for each") as error:
        written(tmp_path, reader, form, contents(sentences={12: text}))
    assert "img12" in str(error.value) or reader == "coco"
    assert "'caption_id'" in str(error.value)


@pytest.mark.parametrize(("reader", "form"), [one for one in FORMATS if "json" in one[1] or "parquet" in one[1]])
def test_null_is_no_sentence(tmp_path: Path, reader: str, form: str) -> None:
    images, captions = written(tmp_path, reader, form, contents(sentences={12: None}))  # type: ignore[dict-item]
    assert len(captions) == 5 * COUNT - 1
    assert sorted(images["captions"]) == [4, *[5] * (COUNT - 1)]


# --- pictures ----------------------------------------------------------------------------------------------------


def png(values: np.ndarray) -> bytes:
    return bytes(cv2.imencode(".png", values)[1])


def png_with_text() -> bytes:
    told, buffer = PngInfo(), io.BytesIO()
    told.add_text("Comment", "x" * (1 << 21), zip=True)
    Image.new("RGB", (8, 6), "red").save(buffer, "PNG", pnginfo=told)
    return buffer.getvalue()


RAMP = np.linspace(0, 1, 48).reshape(6, 8)
GOOD_PICTURES = {
    "dark": png((RAMP * 4).astype(np.uint8)),
    "foggy": png((RAMP * 8 + 120).astype(np.uint8)),
    "white": png(np.full((6, 8), 255, np.uint8)),
    "of 16 bits": png((RAMP * 65535).astype(np.uint16)),
    "dark, of 16 bits": png((RAMP * 10_000).astype(np.uint16)),
    "black, of 16 bits": png(np.zeros((6, 8), np.uint16)),
    "with a long text": png_with_text(),
}
BAD_PICTURES = {
    "of 16 bits with values of 8": png((RAMP * 255).astype(np.uint16)),
    "of 16 bits with values of 12, in colours": png(np.repeat((RAMP * 4095).astype(np.uint16)[..., None], 3, 2)),
    "of 16 bits with values of 8, in colours": png(np.repeat((RAMP * 255).astype(np.uint16)[..., None], 3, 2)),
    "of 16 bits with values of 8, transparent": png(np.repeat((RAMP * 255).astype(np.uint16)[..., None], 4, 2)),
    "cut": GOOD_PICTURES["of 16 bits"][:60],
    "empty": b"",
    "text": b"<html>not found</html>",
}


@EVERY_PICTURED_READER
def test_good_and_odd_pictures(tmp_path: Path, reader: str, form: str) -> None:
    images, _ = written(tmp_path, reader, form, contents(pictures=dict(enumerate(GOOD_PICTURES.values()))))
    assert set(images["status"]) == {"ok"}
    assert set(zip(images["width"], images["height"], strict=True)) == {(8, 6)}


@EVERY_PICTURED_READER
def test_bad_pictures_are_named_and_can_be_left_out(tmp_path: Path, reader: str, form: str) -> None:
    found = contents(pictures=dict(enumerate(BAD_PICTURES.values(), start=10)))
    with pytest.raises(InputError, match=rf"{len(BAD_PICTURES)} of {COUNT} images cannot be read") as error:
        written(tmp_path, reader, form, found)
    ids = [json.loads(line.partition(": ")[0]) for line in str(error.value).splitlines()[1 : len(BAD_PICTURES) + 1]]
    images, _ = written(tmp_path, reader, form, found, known_unreadable=ids)
    assert sorted(images.loc[images["status"] != "ok", "image_id"]) == sorted(ids)


# --- names -------------------------------------------------------------------------------------------------------

GOOD_NAMES = [
    *("IMG_2.0.png", "IMG_2.1.png", "caf\u00e9 \u732b.png", "a b.png", "UPPER.PNG"),
    *("cat/001.png", "dog/001.png", "v1.2/s.png", "(1).png", "#1.png", "x#0.png", "100%.png"),
]


@EVERY_READER
def test_good_and_odd_names(tmp_path: Path, reader: str, form: str) -> None:
    images, captions = written(tmp_path, reader, form, contents(names=dict(enumerate(GOOD_NAMES))))
    assert len(images) == images["image_id"].nunique() == COUNT
    assert (images["captions"] == 5).all()
    texts = captions.groupby("image_id")["text"].agg(lambda found: {text.rpartition(" image ")[2] for text in found})
    assert texts.map(len).eq(1).all()


@EVERY_PICTURED_READER
@pytest.mark.parametrize("hidden", [".thumbnails", "@eaDir", "__MACOSX", ".ipynb_checkpoints"])
def test_hidden_copies_are_left_out(tmp_path: Path, reader: str, form: str, hidden: str) -> None:
    found = contents()
    options, paths = EXAMPLES[reader][form](tmp_path / "data", found)
    expected = job(tmp_path, {"reader": reader, "options": options}, paths)
    for path in map(Path, paths.values()):
        for file in sorted(path.rglob("*")) if path.is_dir() else []:
            if file.is_file() and hidden not in file.parts:
                write_files(path / hidden, {file.relative_to(path).as_posix(): file.read_bytes()})
    for table, before in zip(job(tmp_path, {"reader": reader, "options": options}, paths), expected, strict=True):
        pd.testing.assert_frame_equal(table, before)


# --- the place of a fault ----------------------------------------------------------------------------------------


def edit(name: str, change: Callable[[list[Any]], None]) -> Callable[[Path], None]:
    """Changes the lines of a text file."""

    def spoil(folder: Path) -> None:
        lines = (folder / name).read_text(encoding="utf-8").splitlines()
        change(lines)
        (folder / name).write_text("\n".join(lines), encoding="utf-8")

    return spoil


def edit_json(name: str, change: Callable[[Any], None]) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        whole = json.loads((folder / name).read_text())
        change(whole)
        (folder / name).write_text(json.dumps(whole))

    return spoil


def edit_parquet(name: str) -> Callable[[Path], None]:
    def spoil(folder: Path) -> None:
        rows = pq.read_table(folder / name).to_pylist()
        rows[11]["split"] = "nowhere"
        pd.DataFrame(rows).to_parquet(folder / name)

    return spoil


SPOILT: dict[tuple[str, str], tuple[Callable[[Path], None], str]] = {
    ("flickr", "txt"): (edit("text/token.txt", lambda lines: lines.__setitem__(11, "no tab")), "token.txt, line 12:"),
    ("karpathy", "json"): (
        edit_json("karpathy/dataset.json", lambda whole: whole["images"][11].update(filename=3)),
        "images.11.filename:",
    ),
    ("coco", "json"): (
        edit_json("annotations/captions_all.json", lambda whole: whole["annotations"][11].update(caption=3)),
        "annotations.11.caption:",
    ),
    ("pairs", "csv"): (edit("p.csv", lambda lines: lines.__setitem__(12, "img02.png,train")), "p.csv, row 12:"),
    ("pairs", "json_lines"): (edit("p.jsonl", lambda lines: lines.__setitem__(11, "{")), "p.jsonl, row 12:"),
    ("pairs", "parquet"): (edit_parquet("p.parquet"), "p.parquet, row 12:"),
    ("pairs", "parquet with bytes"): (edit_parquet("p.parquet"), "p.parquet, row 12:"),
    ("pascal", "txt"): (
        lambda folder: (folder / "text/category/img11.txt").write_bytes(b"A \xff .") and None,
        "category/img11.txt, line 1:",
    ),
    ("scan", "txt"): (
        edit("precomp/train_caps.txt", lambda lines: lines.__setitem__(11, "")),
        "train_caps.txt, line 12:",
    ),
}


@pytest.mark.parametrize(("reader", "form"), SPOILT)
def test_a_fault_in_row_12_is_named_by_its_place(tmp_path: Path, reader: str, form: str) -> None:
    options, paths = EXAMPLES[reader][form](tmp_path / "data", contents())
    spoil, place = SPOILT[reader, form]
    spoil(tmp_path / "data")
    with pytest.raises(InputError) as error:
        job(tmp_path, {"reader": reader, "options": options}, paths)
    assert place in str(error.value)


@pytest.mark.parametrize(("reader", "form"), [one for one in FORMATS if one not in SPOILT])
def test_a_fault_in_an_archive_is_named_by_its_key(tmp_path: Path, reader: str, form: str) -> None:
    with pytest.raises(InputError, match=r"img12|12\.captions\.0\.text"):
        written(tmp_path, reader, form, contents(sentences={12: "\ud800" if form != "txt" else "['a']"}))


GOOD_BOXES = {12: [0, 0, 8, 6], 13: [7.5, 5.5, 1, 1], 14: [0.25, 0.5, 7.5, 5], 15: [1, 1, 0.5, 0.5]}
BAD_BOXES = [[7, 2, 4, 3], [-2, 0, 4, 4], [2, 5, 3, 3], [900, 900, 5, 5], [5, 4, -4, -3], [0.1, 0.1, 0.5, 0.5]]


def true_boxes(folder: Path, boxes: dict[int, list[float]], door: str) -> pd.DataFrame:
    """The true boxes that a job writes, one of each image, by MS-COCO's file or by a Parquet file of the user's."""
    options, paths = coco(folder / "data", contents())
    reading = {"reader": "coco", "options": options}
    job(folder, reading, paths)
    given = {number: boxes.get(number, [1, 1, 3, 2]) for number in range(COUNT)}
    if door == "coco":
        items = [{"id": n, "image_id": n, "category_id": 1, "bbox": box} for n, box in given.items()]
        whole = {"annotations": items, "categories": [{"id": 1, "name": "thing"}]}
        write_files(folder / "data/annotations", {"instances_all.json": json.dumps(whole)})
        write_boxes(reading, paths, str(folder / "images.parquet"), str(folder / "boxes.parquet"))
    else:
        rows = [[str(n), "", "thing", -1, -1, *box] for n, box in given.items()]
        pd.DataFrame(rows, columns=[column.name for column in BOXES.columns]).to_parquet(folder / "mine.parquet")
        tables = [str(folder / name) for name in ("images.parquet", "captions.parquet")]
        write_given_boxes(str(folder / "mine.parquet"), *tables, "", str(folder / "boxes.parquet"))
    return schema.read(folder / "boxes.parquet", BOXES)


@pytest.mark.parametrize("door", ["coco", "parquet"])
def test_good_and_odd_boxes(tmp_path: Path, door: str) -> None:
    found = true_boxes(tmp_path, GOOD_BOXES, door).set_index("image_id")[BOX]
    assert {number: found.loc[str(number)].tolist() for number in GOOD_BOXES} == GOOD_BOXES


@pytest.mark.parametrize(("door", "place"), [("coco", "annotation 12 "), ("parquet", r"mine\.parquet: row 12 ")])
@pytest.mark.parametrize("box", BAD_BOXES)
def test_a_bad_box_is_named_by_its_row(tmp_path: Path, door: str, place: str, box: list[float]) -> None:
    with pytest.raises(
        InputError, match=rf"{place}.*(leaves the image|in their images|between 0 and 1).*; 1 such rows"
    ):
        true_boxes(tmp_path, {12: box}, door)
