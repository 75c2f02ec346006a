"""Reads Flickr8k and Flickr30k as published: a token file of captions, and lists of images (or Karpathy's splits)."""

import pandas as pd

from densevse.config.readers import Flickr
from densevse.datasets import karpathy
from densevse.datasets.layout import Paths, image_frame, image_sources, read_lines
from snakeproof.errors import InputError


def read(options: Flickr, paths: Paths) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads images and captions from the sources `text` (archive or folder of the text files) and images.

    With Karpathy's file, which has the same sentences, `text` may be left out.
    """
    entries = karpathy.read_entries(options.karpathy, paths) if options.karpathy else []
    own_captions = "text" in paths or not entries
    captions = _read_token_file(options, paths) if own_captions else karpathy.captions(entries)
    splits = {karpathy.image_id(entry): entry["split"] for entry in entries} or _read_split_lists(options, paths)
    return image_frame(splits, {image: image for image in splits}, image_sources(paths, {"text", "karpathy"})), captions


def _read_token_file(options: Flickr, paths: Paths) -> pd.DataFrame:
    """Reads captions from lines `<image>#<number> TAB <caption>`: images in the file's order, sentences by number."""
    rows = []
    for number, line in _lines(options, paths, options.captions):
        name, tab, text = line.partition("\t")
        image, _, position = name.rpartition("#")
        if not (tab and image and position.isdecimal() and len(position) < 10):
            raise InputError(
                f"{paths['text']}, {options.captions}, line {number}: expected <image>#<number>, a tab and a "
                f"caption, found {line[:80]!r}."
            )
        rows.append((image, int(position), text, number))
    if not rows:
        raise InputError(f"{paths['text']}, {options.captions}: it has no captions.")
    captions = pd.DataFrame(rows, columns=["image_id", "number", "text", "line"])
    twice = captions[captions.duplicated(["image_id", "number"])]
    if len(twice):
        names = [f"{row.image_id}#{row.number} (line {row.line})" for row in twice.head(20).itertuples()]
        raise InputError(
            f"{paths['text']}, {options.captions}: {len(twice)} names of captions occur twice: {', '.join(names)}. "
            "Give each sentence of an image a number of its own."
        )
    return captions.sort_values("number", kind="stable").drop(columns=["number", "line"])


def _read_split_lists(options: Flickr, paths: Paths) -> dict[str, str]:
    splits: dict[str, str] = {}
    for split, file in (options.splits or {}).items():
        for number, line in _lines(options, paths, file):
            image = line.strip()
            if image in splits:
                raise InputError(f"{paths['text']}, {file}, line {number}: {image} is in {splits[image]} already.")
            splits[image] = split
    return splits


def _lines(options: Flickr, paths: Paths, file: str) -> list[tuple[int, str]]:
    if "text" not in paths:
        raise InputError(f"the reader flickr needs a source `text` that holds {file}.")
    return read_lines(paths["text"], file, options.encoding)
