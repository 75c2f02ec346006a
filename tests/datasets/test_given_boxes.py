"""Boxes that the user gives: a Parquet file, or Flickr30k Entities in its official layout."""

import numpy as np
import pandas as pd
import pytest

from densevse.artifacts.schemas.datasets import BOXES, CAPTIONS, IMAGES
from densevse.datasets.given_boxes import (
    place_phrases,
    read_annotation,
    read_entities,
    read_sentence,
    write_given_boxes,
)
from densevse.language.tokens import tokenize, write_tokens
from snakeproof import schema
from snakeproof.errors import InputError

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
    paths = [str(tmp_path / name) for name in ("images.parquet", "captions.parquet", "tokens.parquet")]
    schema.write([image], IMAGES, paths[0])
    schema.write(captions, CAPTIONS, paths[1])
    write_tokens(*paths[1:])
    return paths


def words_of(captions):
    return {row.caption_id: tokenize(row.text) for row in captions.itertuples()}


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
    boxes = read_annotation(XML, "77.xml").boxes
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


@pytest.mark.parametrize(
    ("marked", "text", "expected"),
    [
        (
            "[/EN#1/people A man] in [/EN#2/clothing a t-shirt] , [/EN#3/clothing jeans] and [/EN#4/other hats] .",
            "A man in a t-shirt, jeans and hats.",
            [("A man", "a man"), ("a t-shirt", "a t - shirt"), ("jeans", "jeans"), ("hats", "hats")],
        ),
        (
            '" [/EN#1/people The boys] \' [/EN#2/other blue/white ball] "',
            "\u201cThe boys' blue/white ball\u201d",
            [("The boys", "the boys"), ("blue/white ball", "blue/white ball")],
        ),
        ("[/EN#1/other ?] [/EN#2/people A child] runs", "? A child runs", [("A child", "a child")]),
    ],
)
def test_phrases_are_placed_among_the_words_of_the_parser(marked, text, expected):
    tokens, phrases = read_sentence(marked)
    words = tokenize(text)
    placed = place_phrases(tokens, phrases, words)
    assert [(phrase, " ".join(words[start:end])) for _, phrase, start, end in placed] == expected


def test_entities_of_another_data_set_are_an_error(tables, entities):
    captions = schema.read(tables[1], CAPTIONS).assign(text="something else")
    with pytest.raises(InputError, match="none of the 2 captions is in it"):
        read_entities(entities, captions, words_of(captions))


def test_a_parquet_file_of_any_program_is_taken(tables, tmp_path):
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([ROW]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert schema.read(output, BOXES).to_dict("records") == [ROW]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
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


@pytest.mark.parametrize(
    ("box", "said"),
    [
        ((0.1, 0.2, 0.15, 0.2), "all numbers of the boxes lie between 0 and 1, as shares"),
        (
            (20.0, 10.0, 50.0, 35.0),
            r"only 0 of 1 boxes lie in their images, and 1 do as corners \(x0, y0, x1, y1\); write",
        ),
        ((40.0, 20.0, 30.0, 30.0), "and 1 do as centres"),
    ],
)
def test_boxes_in_another_form_are_refused(tables, tmp_path, box, said):
    given = str(tmp_path / "mine.parquet")
    pd.DataFrame([ROW | dict(zip(("x", "y", "width", "height"), box, strict=True))]).to_parquet(given)
    with pytest.raises(InputError, match=rf"mine.parquet: .*{said}"):
        write_given_boxes(given, *tables, str(tmp_path / "boxes.parquet"))


def test_boxes_of_images_of_unknown_size_have_an_area(tables, tmp_path):
    images = schema.read(tables[0], IMAGES).assign(width=0, height=0)
    schema.write(images, IMAGES, tables[0])
    for change in ({"width": 0.0}, {"height": -3.0}, {"width": np.inf}):
        pd.DataFrame([ROW, {**ROW, **change}]).to_parquet(tmp_path / "mine.parquet")
        with pytest.raises(InputError, match=r"row 1 .*: its box has no area or leaves the image; 1 such rows"):
            write_given_boxes(str(tmp_path / "mine.parquet"), *tables, str(tmp_path / "boxes.parquet"))


def test_ids_may_be_encoded_otherwise_than_in_the_tables(tables, tmp_path):
    """A Mac writes the accents of names apart from their letters; the tables compose them."""
    for table, kind in zip(tables, (IMAGES, CAPTIONS), strict=False):
        rows = schema.read(table, kind)
        ids = [name for name in ("image_id", "caption_id") if name in rows]
        schema.write(rows.assign(**{name: "caf\u00e9" + rows[name] for name in ids}), kind, table)
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([ROW | {name: "cafe\u0301" + ROW[name] for name in ("image_id", "caption_id")}]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert schema.read(output, BOXES)["caption_id"].tolist() == ["caf\u00e9" + ROW["caption_id"]]


def test_boxes_of_more_images_are_left_out_and_counted(tables, tmp_path, caplog):
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([{**ROW, "image_id": "78"}, ROW]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert schema.read(output, BOXES).to_dict("records") == [ROW]
    assert "1 boxes are of 1 images that the data set does not have, such as '78'; left out" in caplog.text
    pd.DataFrame([{**ROW, "image_id": "78"}]).to_parquet(given)
    with pytest.raises(InputError, match=r"mine.parquet: all 1 boxes .* the first of '78'.* ids are like '77'"):
        write_given_boxes(given, *tables, output)


def test_a_missing_column_is_named(tables, tmp_path):
    given = str(tmp_path / "mine.parquet")
    pd.DataFrame([ROW]).drop(columns="phrase").to_parquet(given)
    with pytest.raises(InputError, match="expected a Parquet file with the columns"):
        write_given_boxes(given, *tables, str(tmp_path / "boxes.parquet"))


def test_a_box_of_an_image_that_cannot_be_read_is_no_error(tables, tmp_path):
    images = schema.read(tables[0], IMAGES)
    schema.write(images.assign(width=0, height=0, status="missing"), IMAGES, tables[0])
    given, output = str(tmp_path / "mine.parquet"), str(tmp_path / "boxes.parquet")
    pd.DataFrame([ROW]).to_parquet(given)
    write_given_boxes(given, *tables, output)
    assert len(schema.read(output, BOXES)) == 1


def annotation(corners, size=""):
    left, top, right, bottom = corners
    return (
        f"<annotation>{size}<object><name>1</name><bndbox><xmin>{left}</xmin><ymin>{top}</ymin>"
        f"<xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object></annotation>"
    ).encode()


@pytest.mark.parametrize(
    ("corners", "box"), [((0, 1, 10, 5), (0, 0, 10, 5)), ((3, 0, 10, 5), (2, 0, 8, 5)), ((0, 0, 1, 1), (0, 0, 1, 1))]
)
def test_a_box_that_begins_at_0_begins_at_the_first_pixel(corners, box):
    assert read_annotation(annotation(corners), "77.xml").boxes["1"] == [box]


@pytest.mark.parametrize("corners", [(-1, 1, 10, 5), (9, 1, 8, 5), (1, 7, 10, 5), (1, 1, "nan", 5)])
def test_a_box_that_cannot_be_is_refused_with_its_file(corners):
    with pytest.raises(InputError, match=r"77\.xml: not an annotation .*: a box from"):
        read_annotation(annotation(corners), "77.xml")


def test_captions_with_the_same_letters_have_a_box_each(tables, entities, tmp_path):
    texts = ["A dog runs .", "A dog runs", "a Dog runs!"]
    captions = [
        {"caption_id": f"77#{i}", "image_id": "77", "position": i, "text": text, "split": "test"}
        for i, text in enumerate(texts)
    ]
    schema.write(captions, CAPTIONS, tables[1])
    lines = ["[/EN#1/animals A dog] runs .", "A dog [/EN#2/other runs]", "[/EN#2/animals a Dog] runs !", "a dog runs"]
    (tmp_path / "entities/Sentences/77.txt").write_text("\n".join(lines))
    captions = schema.read(tables[1], CAPTIONS)
    rows = read_entities(entities, captions, words_of(captions))
    assert rows[["caption_id", "phrase", "x"]].to_numpy().tolist() == [
        ["77#0", "A dog", 0],
        ["77#0", "A dog", 40],
        ["77#1", "runs", 40],
        ["77#2", "a Dog", 40],
    ]


def test_an_image_that_exif_turns_after_it_was_annotated_is_refused(tables, entities, tmp_path):
    size = "<size><width>{}</width><height>{}</height></size>"
    for width, height in ((60, 40), (0, 0), (61, 40)):
        stated = XML.replace(b"<filename>", size.format(width, height).encode() + b"<filename>")
        (tmp_path / "entities/Annotations/77.xml").write_bytes(stated)
        write_given_boxes(entities, *tables, str(tmp_path / "boxes.parquet"))
    stated = XML.replace(b"<filename>", size.format(40, 60).encode() + b"<filename>")
    (tmp_path / "entities/Annotations/77.xml").write_bytes(stated)
    with pytest.raises(InputError, match=r"entities: says that image 77 has 40 x 60 pixels, but .* it has 60 x 40"):
        write_given_boxes(entities, *tables, str(tmp_path / "boxes.parquet"))


@pytest.mark.parametrize("name", ["Sentences/b/77.txt", "Annotations/77.XML"])
def test_two_files_of_entities_for_one_image_are_both_named(tables, entities, tmp_path, name):
    (tmp_path / "entities" / name).parent.mkdir(exist_ok=True)
    (tmp_path / "entities" / name).write_bytes(b"another")
    with pytest.raises(InputError, match=r"entities: 77\.(txt|xml) has .*77\.(txt|XML) and .*77\.(txt|xml); leave one"):
        write_given_boxes(entities, *tables, str(tmp_path / "boxes.parquet"))


def test_two_images_of_one_file_of_entities_are_both_named(tables, entities):
    captions = schema.read(tables[1], CAPTIONS).assign(image_id=["cat/77.jpg", "dog/77.JPG"])
    with pytest.raises(InputError, match=r"entities: 77\.txt has cat/77\.jpg and dog/77\.JPG; leave one"):
        read_entities(entities, captions, words_of(captions))


def test_boxes_of_images_that_are_written_another_way_are_named(tables, tmp_path):
    pd.DataFrame([{**ROW, "image_id": "photos/77.JPG", "caption_id": ""}]).to_parquet(tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=r"mine\.parquet: images without a box.* '77' and 'photos/77\.JPG'"):
        write_given_boxes(str(tmp_path / "mine.parquet"), *tables, str(tmp_path / "boxes.parquet"))
