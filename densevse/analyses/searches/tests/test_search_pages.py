"""The pages of a search's answers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from densevse.analyses.searches.pages import search_pages
from densevse.analyses.searches.schemas import FOUND
from densevse.artifacts import schema
from densevse.artifacts.schemas.datasets import IMAGES

NAMES = ["a.png", "<b>.png"]


@pytest.fixture
def found(tmp_path):
    for name, colour in zip(NAMES, [200, 10], strict=True):
        Image.fromarray(np.full((10, 12, 3), colour, np.uint8)).save(tmp_path / name)
    images = pd.DataFrame({"image_id": NAMES, "source": "photographs", "file": NAMES, "split": "test"})
    images = images.assign(width=12, height=10, sha256="", captions=0, family=NAMES, status="ok")
    schema.write(images, IMAGES, tmp_path / "images.parquet", {})
    rows = pd.DataFrame({"query": [0, 0, 1], "rank": [1, 2, 1], "image_id": [*NAMES, NAMES[0]], "caption_id": "#0"})
    rows["text"] = ["a <dog>", "a <dog>", "a zebra"]
    rows["unknown_words"] = [[], [], ["zebra"]]
    rows["score"] = [0.75, 0.5, 0.25]
    schema.write(rows, FOUND, tmp_path / "found.parquet", {})
    return tmp_path


def pages(folder, asked, shown=100):
    tables = {"found": str(folder / "found.parquet"), "image_table": str(folder / "images.parquet")}
    sources = {"sources": [str(folder)], "source_names": ["photographs"]}
    paths = {"markdown": str(folder / "page.md"), "html": str(folder / "page.html")}
    search_pages(**tables, **sources, asked=asked, title="A search", shown=shown, **paths)
    return [Path(path).read_text() for path in paths.values()]


def test_sentences_are_shown_with_their_images(found):
    markdown, html = pages(found, "sentences")
    assert "## a <dog>" in markdown
    assert "|    1 | 0.750 | a.png" in markdown
    assert "a zebra (words that the model does not know: zebra)" in markdown
    assert html.count('<img alt="') == 3
    assert html.count("data:image/jpeg;base64,") == 3
    assert "<h2>a &lt;dog&gt;</h2>" in html
    assert "&lt;b&gt;.png" in html
    assert "<b>" not in html


def test_photographs_are_shown_with_their_sentences(found):
    markdown, html = pages(found, "photographs")
    assert "## a.png" in markdown
    assert "0.750 | a <dog>" in markdown
    assert html.count("<img") == 2


def test_queries_beyond_the_shown_ones_are_counted(found):
    markdown, html = pages(found, "sentences", shown=1)
    assert "zebra" not in markdown + html
    assert "1 more queries are in found.parquet." in markdown
    assert "1 more queries are in found.parquet." in html
