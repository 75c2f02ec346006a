"""Reads Pascal1K (Rashtchian et al. 2010): 1,000 photographs of PASCAL VOC 2008 with about five sentences each.

It is published as a web page. Copies have one folder for each category, with <category>/<image>.jpg and .txt.
"""

from collections.abc import Collection
from html.parser import HTMLParser
from pathlib import PurePosixPath

import pandas as pd

from densevse.artifacts.archives import Archive
from densevse.artifacts.file_names import names_by_key, refuse_repeated
from densevse.artifacts.images import SUFFIXES
from densevse.artifacts.texts import numbered_lines
from densevse.config.readers import Pascal
from densevse.datasets.layout import (
    CAPTION_COLUMNS,
    Paths,
    image_frame,
    image_sources,
    read_files,
    read_lines,
    seeded_splits,
)
from snakeproof.errors import InputError


def read(options: Pascal, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the sources `sentences` and images; an image's id is <category>/<file>.

    `sentences` is the page as a file (.html), or an archive or folder with files <category>/<image>.txt, one sentence
    on each line; the image has any suffix, and no other has its name. Images may have any number of sentences; an image
    without any is left out. There is no official split.
    """
    if "sentences" not in paths:
        raise InputError("the reader pascal needs a source `sentences`: the page, or an archive of text files.")
    sources = image_sources(paths, {"sentences"})
    sentences = read_sentences(paths["sentences"], options.encoding)
    if not _is_page(paths["sentences"]):
        pictures = _find_pictures({PurePosixPath(image).with_suffix("") for image in sentences}, sources)
        sentences = {pictures.get(image.removesuffix(".jpg"), image): texts for image, texts in sentences.items()}
    splits = seeded_splits(sentences, options.splits, options.seed)
    images = image_frame(splits, {image: image for image in sentences}, sources)
    rows = [(image, text) for image, texts in sentences.items() for text in texts]
    return images, pd.DataFrame(rows, columns=CAPTION_COLUMNS)


def read_sentences(path: str, encoding: str = "utf-8") -> dict[str, list[str]]:
    """The sentences of each image that has any."""
    return (_read_page if _is_page(path) else _read_text_files)(path, encoding)


def _is_page(path: str) -> bool:
    return path.endswith((".html", ".htm"))


def _find_pictures(stems: Collection[PurePosixPath], sources: Paths) -> dict[str, str]:
    """<category>/<image> -> the picture of that name, with its suffix.

    Raises `InputError` if two differ in the suffix alone.
    """
    lengths = {len(stem.parts) for stem in stems}
    names = (PurePosixPath(name) for path in sources.values() for name in Archive.open(path).names())
    ends = (PurePosixPath(*name.parts[-length:]) for name in names for length in lengths)
    found = [end for end in ends if end.suffix.lower() in SUFFIXES and end.with_suffix("") in stems]
    return names_by_key(((str(end.with_suffix("")), str(end)) for end in found), ", ".join(sources.values()))


def _read_text_files(path: str, encoding: str) -> dict[str, list[str]]:
    files = dict(read_files(path, "*.txt"))
    texts = names_by_key((("/".join(PurePosixPath(name).with_suffix(".jpg").parts[-2:]), name) for name in files), path)
    sentences = {
        image: [line for _, line in numbered_lines(files[name], f"{path}, {name}", encoding)]
        for image, name in texts.items()
    }
    return {image: texts for image, texts in sentences.items() if texts}


def _read_page(path: str, encoding: str) -> dict[str, list[str]]:
    page = _Page()
    try:
        page.feed("\n".join(line for _, line in read_lines(path, "*.html", encoding)))
        page.close()
    except AssertionError as error:  # raised by the parser for broken declarations
        raise InputError(f"{path}: not a web page that can be read ({error}).") from error
    # A photograph has a folder (its category) and sentences after it; a logo does not.
    found = [(image, texts) for image, texts in page.found if texts and "/" in image]
    sentences = dict(found)
    if not sentences:
        raise InputError(f"{path}: no <img> with sentences after it; save the page of the data set itself.")
    refuse_repeated((image for image, _ in found), f"{path}: these images occur twice on the page")
    return sentences


_OF_PAGE = {"body", "html", "img", "table", "tbody", "td", "th", "tr"}
"""The tags that end a cell; others belong to its sentence."""


class _Page(HTMLParser):
    """The page's images, each with the text of the table cells after it as sentences."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=False)  # entities are decoded with those of all sentences
        self.found: list[tuple[str, list[str]]] = []  # <category>/<file> and its sentences
        self.cell: str | None = None  # the text so far of an open cell

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _OF_PAGE:
            self._add(self.get_starttag_text() or "")
            return
        self._end_cell()
        if tag == "img":
            self.found.append(("/".join(PurePosixPath(dict(attrs).get("src") or "").parts[-2:]), []))
        elif tag == "td":
            self.cell = ""

    def handle_endtag(self, tag: str) -> None:
        self._end_cell() if tag in _OF_PAGE else self._add(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        self._add(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._add(f"&#{name};")

    def close(self) -> None:
        super().close()
        self._end_cell()

    def _add(self, text: str) -> None:
        if self.cell is not None:
            self.cell += text

    def _end_cell(self) -> None:
        if self.found and self.cell and self.cell.strip():
            self.found[-1][1].append(self.cell.strip())
        self.cell = None
