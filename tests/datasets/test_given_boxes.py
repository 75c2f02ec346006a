"""Boxes that the user gives: a Parquet file, or Flickr30k Entities in its official layout."""

import pandas as pd
import pytest

from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.datasets.entities import read_annotation, read_entities, read_sentence
from densevse.datasets.given_boxes import write_given_boxes
from densevse.runtime.errors import InputError

LINE = "[/EN#1/people/clothing Two young guys] with [/EN#2/bodyparts shaggy hair] look at [/EN#3/scene it] ."
XML = b"""<annotation><filename>77.jpg</filename>
<object><name>1</name><bndbox><xmin>1</xmin><ymin>11</ymin><xmax>20</xmax><ymax>30</ymax></bndbox></object>
<object><name>1</name><name>2</name>
<bndbox><xmin>41</xmin><ymin>11</ymin><xmax>50</xmax><ymax>12</ymax></bndbox></object>
<object><name>3</name><scene>1</scene><nobndbox>1</nobndbox></object></annotation>"""
ROW = {"image_id": "77", "caption_id": "77#0", "phrase": "a dog", "start": 0, "end": 2,
       "x": 1.0, "y": 2.0, "width": 5.0, "height": 6.0}  # fmt: skip


@pytest.fixture
def tables(tmp_path):
    image = {"image_id": "77", "source": "images", "file": "77.jpg", "split": "test", "width": 60, "height": 40,
             "sha256": "", "family": "f", "captions": 2, "status": "ok"}  # fmt: skip
    texts = ["A dog.", "Two young guys with shaggy hair look at it."]
    captions = [
        {"caption_id": f"77#{i}", "image_id": "77", "position": i, "text": text, "split": "test"}
        for i, text in enumerate(texts)
    ]
    paths = [str(tmp_path / name) for name in ("images.parquet", "captions.parquet")]
    schema.write([image], IMAGES, paths[0], {})
    schema.write(captions, CAPTIONS, paths[1], {})
    return paths


@pytest.fixture
def entities(tmp_path):
    for name, data in {"Sentences/77.txt": LINE.encode(), "Annotations/77.xml": XML}.items():
        path = tmp_path / "entities" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return str(tmp_path / "entities")


def test_a_marked_sentence_is_tokens_and_phrases():
    tokens, phrases = read_sentence(LINE)
    assert tokens == ["Two", "young", "guys", "with", "shaggy", "hair", "look", "at", "it", "."]
    assert phrases == [("1", 0, 3), ("2", 4, 6), ("3", 8, 9)]


def test_an_entity_may_have_several_boxes_or_share_one_or_have_none():
    boxes = read_annotation(XML, "77.xml")
    assert boxes["1"] == [(0, 10, 20, 20), (40, 10, 10, 2)]
    assert boxes["2"] == [(40, 10, 10, 2)]
    assert "3" not in boxes


def test_what_is_no_annotation_is_named():
    with pytest.raises(InputError, match=r"77\.xml: not an annotation"):
        read_annotation(b"<annotation><object>", "77.xml")


def test_entities_are_found_by_a_caption_s_letters(tables, entities, tmp_path):
    output = str(tmp_path / "boxes.parquet")
    write_given_boxes(entities, *tables, output)
    rows = schema.read(output, BOXES)
    found = rows[["caption_id", "phrase", "start", "end", "x"]].to_numpy().tolist()
    assert found == [
        ["77#1", "Two young guys", 0, 3, 0],
        ["77#1", "Two young guys", 0, 3, 40],
        ["77#1", "shaggy hair", 4, 6, 40],
    ]


def test_entities_of_another_data_set_are_an_error(tables, entities):
    captions = schema.read(tables[1], CAPTIONS).assign(text="something else")
    with pytest.raises(InputError, match="none of the 2 captions is in it"):
        read_entities(entities, captions)


def test_a_parquet_file_of_any_program_is_taken(tables, tmp_path):
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([ROW]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert schema.read(output, BOXES).to_dict("records") == [ROW]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"image_id": "78"}, "its image is not in the image table"),
        ({"caption_id": "77#9"}, "its caption is not one of its image"),
        ({"end": 0}, "its tokens are not a span"),
        ({"x": 58.0}, "its box has no area or leaves the image"),
        ({"width": 0.0}, "its box has no area or leaves the image"),
    ],
)
def test_a_row_that_cannot_be_is_named(tables, tmp_path, change, problem):
    given = str(tmp_path / "mine.parquet")
    pd.DataFrame([ROW, {**ROW, **change}]).to_parquet(given)
    with pytest.raises(InputError, match=f"row 1 .*: {problem}; 1 such rows"):
        write_given_boxes(given, *tables, str(tmp_path / "boxes.parquet"))


def test_a_missing_column_is_named(tables, tmp_path):
    given = str(tmp_path / "mine.parquet")
    pd.DataFrame([ROW]).drop(columns="phrase").to_parquet(given)
    with pytest.raises(InputError, match="expected a Parquet file with the columns"):
        write_given_boxes(given, *tables, str(tmp_path / "boxes.parquet"))


def test_a_box_of_an_image_that_cannot_be_read_is_no_error(tables, tmp_path):
    images = schema.read(tables[0], IMAGES)
    schema.write(images.assign(width=0, height=0, status="missing"), IMAGES, tables[0], {})
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([ROW]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert len(schema.read(output, BOXES)) == 1
