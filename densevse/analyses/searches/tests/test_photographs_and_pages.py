"""A person's own photographs, and the pages of a search's answers."""

import os
import zipfile
from pathlib import Path

import cv2
import numpy as np
import pandas as pd
import pytest

from densevse.analyses.searches.own import describe_counts, write_photographs, write_sentences
from densevse.analyses.searches.pages import write_search_pages
from densevse.analyses.searches.schemas import FOUND
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.statements import Statement, making
from tests.browser import WIDTHS, browser
from tests.pictures import write_images

__all__ = ["browser"]

NAMES = ["a.png", "<b>.png"]


@pytest.fixture
def photographs(tmp_path):
    folder = tmp_path / "my photographs"
    for number, name in enumerate(["b.jpg", "a.PNG", "2024/c.jpeg"]):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(folder / name), np.full((20 + number, 30, 3), 50 * number, np.uint8))
    (folder / "notes.txt").write_text("no photograph")
    return folder


def write_found(image_ids, folder):
    found = [(0, rank, name, "#0", "A café .", [], 0.5) for rank, name in enumerate(image_ids, 1)]
    columns = [column.name for column in FOUND.columns]
    frame = pd.DataFrame(found, columns=columns).astype({"query": "int32", "rank": "int32", "score": "float32"})
    schema.write(frame, FOUND, folder / "found.parquet")


def test_the_photographs_of_a_folder_become_an_image_table(photographs, tmp_path):
    write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    images = schema.read(tmp_path / "images.parquet", IMAGES)
    assert images["image_id"].tolist() == ["2024/c.jpeg", "a.PNG", "b.jpg"]
    assert images[["width", "height"]].to_numpy().tolist() == [[30, 22], [30, 21], [30, 20]]
    assert set(images["status"]) == {"ok"}
    assert set(images["split"]) == {"test"}


def test_a_photograph_that_cannot_be_read_is_left_out_by_name(photographs, tmp_path, caplog):
    (photographs / "broken.jpg").write_bytes(b"\xff\xd8 no picture")
    write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    assert schema.read(tmp_path / "images.parquet", IMAGES)["image_id"].tolist() == ["2024/c.jpeg", "a.PNG", "b.jpg"]
    assert '1 of 4 images cannot be read:\n  "broken.jpg": ' in caplog.text
    notes = schema.check(tmp_path / "images.parquet", IMAGES).found["notes"]
    assert notes == ['Left out, as they cannot be read: 1 photographs, "broken.jpg".']


def test_photographs_none_of_which_can_be_read_are_named_with_what_to_do(photographs, tmp_path):
    for name in ("b.jpg", "a.PNG", "2024/c.jpeg"):
        (photographs / name).write_bytes(b"\xff\xd8 no picture")
    with pytest.raises(InputError, match=r"b\.jpg.*\n.*Remove them from") as error:
        write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    assert "3 of 3 images cannot be read:\n" in str(error.value)
    assert not (tmp_path / "images.parquet").exists()


@pytest.mark.parametrize("hidden", [".thumbnails", "2024/.ipynb_checkpoints", "@eaDir", "__MACOSX", "#recycle"])
def test_photographs_in_folders_of_programs_are_left_out_and_counted(photographs, tmp_path, hidden):
    (photographs / hidden).mkdir()
    (photographs / hidden / "copy.jpg").write_bytes((photographs / "b.jpg").read_bytes())
    (photographs / "Thumbs.db").write_bytes(b"no picture")
    write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    assert schema.read(tmp_path / "images.parquet", IMAGES)["image_id"].tolist() == ["2024/c.jpeg", "a.PNG", "b.jpg"]
    statement = schema.check(tmp_path / "images.parquet", IMAGES)
    assert statement.found["left_out"] == {".txt": 1}
    assert statement.found["notes"] == ["Left out, as they are hidden or made by programs: 2 files."]
    write_found(["b.jpg"], tmp_path)
    for text in pages(tmp_path, "sentences", photographs=str(photographs)):
        assert "made by programs: 2 files." in text


def test_a_folder_without_photographs_is_an_error(tmp_path):
    (tmp_path / "notes.txt").write_text("no photograph")
    with pytest.raises(InputError, match="no photographs in it, only 1 other files"):
        write_photographs(str(tmp_path), 2, tmp_path / "images.parquet")


def test_pictures_that_are_not_read_are_counted_and_what_a_mac_adds_is_not(photographs, tmp_path):
    for name in ("a.cr2", "2024/B.CR2", "._b.jpg", "__MACOSX/b.jpg", ".DS_Store", "no suffix"):
        (photographs / name).parent.mkdir(exist_ok=True)
        (photographs / name).write_bytes(b"no picture")
    for name in ("d.jfif", "e.mpo", "f.JPE"):
        (photographs / name).write_bytes((photographs / "b.jpg").read_bytes())
    write_photographs(str(photographs), 2, tmp_path / "images.parquet")
    images = schema.read(tmp_path / "images.parquet", IMAGES)
    assert images["image_id"].tolist() == ["2024/c.jpeg", "a.PNG", "b.jpg", "d.jfif", "e.mpo", "f.JPE"]
    left_out = schema.check(tmp_path / "images.parquet", IMAGES).found["left_out"]
    assert left_out == {"": 1, ".cr2": 2, ".txt": 1}
    assert describe_counts(left_out) == "1 without a suffix, 2 .cr2, 1 .txt"


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_names_that_are_not_utf_8_or_decomposed_go_all_the_way(photographs, tmp_path, kind):
    data = (photographs / "b.jpg").read_bytes()
    names = [b"caf\xe9.jpg", "cafe\u0301.jpg".encode()] if kind == "folder" else [b"cafe\xcc\x81.jpg"]
    path = photographs
    for name in names:
        (photographs / os.fsdecode(name)).write_bytes(data)
    if kind == "zip":
        path = tmp_path / "photographs.zip"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("set\\cafe\u0301.jpg", data)
    write_photographs(str(path), 2, tmp_path / "images.parquet")
    images = schema.read(tmp_path / "images.parquet", IMAGES)
    expected = {"caf\u00e9.jpg", "caf%E9.jpg"} if kind == "folder" else {"set/caf\u00e9.jpg"}
    assert expected <= set(images["image_id"])
    ids = images["image_id"].tolist()
    write_found(ids, tmp_path)
    for text in pages(tmp_path, "sentences", photographs=str(path)):
        assert all(name in text for name in expected)
        assert ("1 .txt" in text) == (kind == "folder")


def test_a_sentence_s_accents_are_composed(tmp_path):
    write_sentences(["A cafe\u0301 ."], tmp_path / "captions.parquet")
    assert schema.read(tmp_path / "captions.parquet", CAPTIONS)["text"].tolist() == ["A caf\u00e9 ."]


def test_a_folder_of_pictures_that_are_not_read_says_which_they_are(tmp_path):
    (tmp_path / "a.cr2").write_bytes(b"raw")
    with pytest.raises(InputError, match=r"only 1 other files \(1 \.cr2\); their names must end in one of .*\.jfif"):
        write_photographs(str(tmp_path), 2, tmp_path / "images.parquet")


@pytest.fixture
def found(tmp_path):
    write_images(tmp_path, NAMES, drawn=True)
    rows = pd.DataFrame({"query": [0, 0, 1], "rank": [1, 2, 1], "image_id": [*NAMES, NAMES[0]], "caption_id": "#0"})
    rows["text"] = ["a <dog>", "a <dog>", "a zebra"]
    rows["unknown_words"] = [[], [], ["zebra"]]
    rows["score"] = [0.75, 0.5, 0.25]
    schema.write(rows, FOUND, tmp_path / "found.parquet")
    return tmp_path


def pages(folder, asked, shown=100, **sources):
    """Both pages of the answers in a folder; `sources` are the files of its images, by default <folder>/images."""
    tables = {"found": str(folder / "found.parquet"), "image_table": str(folder / "images.parquet")}
    paths = {"markdown": str(folder / "page.md"), "html": str(folder / "page.html")}
    sources = sources or {"images": str(folder / "images")}
    write_search_pages(**tables, sources=sources, asked=asked, title="A search", shown=shown, **paths)
    return [Path(path).read_text(encoding="utf-8") for path in paths.values()]


def test_sentences_are_shown_with_their_images(found):
    markdown, html = pages(found, "sentences")
    assert "## a &#60;dog>" in markdown
    assert "|    1 | 0.750 | a.png" in markdown
    assert "a zebra (words that the model does not know: zebra)" in markdown
    assert html.count('<img alt="') == 3
    assert html.count("data:image/jpeg;base64,") == 3
    assert "<h2>a &lt;dog&gt;</h2>" in html
    assert "&lt;b&gt;.png" in html
    assert "<b>" not in html


@pytest.mark.slow
@pytest.mark.parametrize("asked", ["sentences", "photographs"])
def test_the_page_fits_a_telephone_and_a_screen_whatever_it_says(found, browser, asked):
    pages(found, asked)
    for width in WIDTHS:
        browser.open((found / "page.html").as_uri(), width)
        assert browser.page_faults(width) == []
        browser.run("document.querySelectorAll('h1, h2, li').forEach((one) => one.append('unbreakable'.repeat(40)))")
        assert browser.page_faults(width) == []


def test_photographs_are_shown_with_their_sentences(found):
    markdown, html = pages(found, "photographs")
    assert "## a.png" in markdown
    assert "0.750 | a &#60;dog>" in markdown
    assert html.count("<img") == 2


def test_queries_beyond_the_shown_ones_are_counted(found):
    markdown, html = pages(found, "sentences", shown=1)
    assert "zebra" not in markdown + html
    assert "1 more queries are in found.parquet." in markdown
    assert "1 more queries are in found.parquet." in html


def test_the_foot_of_both_pages_says_that_files_were_adopted(found):
    rows = schema.read(found / "found.parquet", FOUND)
    with making(Statement(adopted={"scenes/model.safetensors": ["the code"]})):
        schema.write(rows, FOUND, found / "found.parquet")
    for text in pages(found, "sentences"):
        assert "which were adopted (densevse adopt). Their settings and inputs agree with today" in text
        assert "not compared: the code." in text
