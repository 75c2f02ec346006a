"""Reads a data set's official files into its image table and caption table, and draws new splits of these.

A reader reads one official layout. It is a function

    read(options, paths) -> (images, captions)

of the data set's options, of the reader's own type in densevse/config/readers.py, and the paths of its sources by name.
It returns two frames. Images have the columns image_id, source, file, split (and family, if images are variations of
each other), in the official order. Captions have the columns image_id, text (and sentid, MS-COCO's number), with the
sentences of an image in their official order. This module does everything that all data sets share: checks, order by
split, positions, decoding each image once.

An image that no split lists is not part of the data set, and neither are its captions.

Readers of data sets with true boxes or masks have further functions: see densevse/datasets/true_boxes.py.

New splits (`resplit`) are drawn at random from all images of a data set, as a method's gain on one split may be luck.
The images stay what they were, so that their features and the parses of their sentences are those of the data set.
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from importlib import import_module
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from densevse.artifacts.archives import Archive, base_names
from densevse.artifacts.families import copies
from densevse.artifacts.file_names import compose_accents, refuse_alike
from densevse.artifacts.images import SUFFIXES, ImageFacts, ImageFiles, examine
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.artifacts.sentences import clean_sentence
from densevse.config.datasets import Reading
from densevse.config.readers import READERS
from densevse.datasets.layout import Paths, is_plain_file, select_captions, sort_by_split
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.logs import logger, progress
from snakeproof.strict import validate

_SIZES = {"width": "int32", "height": "int32"}
LONG = 100
"""Words. Longer captions are kept and named in the log, as parsers may refuse them."""


def implementation(name: str) -> ModuleType:
    """The module that reads a layout."""
    return import_module(READERS[name].IMPLEMENTATION)


def read_dataset(
    settings: Mapping[str, Any], paths: Paths, threads: int = 1, listing: str | Path | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Reads the image and caption tables (schemas IMAGES, CAPTIONS) of a data set; decodes every image once.

    `settings` are the data set's, as plain values of `Reading`; `paths` are those of its sources. Images are in the
    order of their splits, then in official order. Raises `InputError` that names a wrong setting, up to 20 repeated
    ids, or up to 20 unreadable images that neither `known_unreadable` nor `only_available` allows. The ids of all of
    these are written to the YAML file `listing`.
    """
    reading = validate(Reading, settings, "the data set")
    images, captions = implementation(reading.reader).read(reading.options, paths)
    for table in (images, captions):
        table["image_id"] = table["image_id"].map(compose_accents)  # files may encode the same letters in two ways
    files = ImageFiles(paths)
    _check_images(images, reading, paths)
    with_pictures = READERS[reading.reader].HAS_PICTURES
    if with_pictures:
        _check_files(images)
        _check_leftovers(images, captions, files, reading.only_available)
    images = sort_by_split(images)
    images["family"] = images.get("family", images["image_id"])
    captions = _number_captions(captions, images, paths)
    images["captions"] = images["image_id"].map(captions["image_id"].value_counts()).fillna(0).astype("int32")
    _log(images, captions)
    if not with_pictures:
        return images.assign(width=0, height=0, sha256="", status="ok").astype(_SIZES), captions
    images, problems = examine_images(images, files, threads)
    _check_readable(images, problems, reading, paths, listing)
    _log_copies(images)
    return images, captions


def write_dataset(
    reading: Mapping[str, Any], sources: Mapping[str, str], images: str, captions: str, threads: int
) -> None:
    """The job that writes the image table and the caption table of a data set; see `read_dataset`.

    `reading` has the plain values of a `Reading`. Beside the tables, unreadable.yaml lists the images that stop the
    job, as long as there are any.
    """
    listing = Path(images).with_name("unreadable.yaml")
    listing.unlink(missing_ok=True)
    image_table, caption_table = read_dataset(reading, sources, threads, listing)
    schema.write(image_table, IMAGES.bind(sides=reading.get("sides")), images)
    schema.write(caption_table, CAPTIONS, captions)


def _check_leftovers(images: pd.DataFrame, captions: pd.DataFrame, files: ImageFiles, only_available: bool) -> None:
    """Logs the files and captions of a data set that belong to none of its splits.

    Raises `InputError` if they are written almost as images of the splits that have none.
    """
    listed = set(zip(images["source"], images["file"], strict=True))
    unlisted = [
        name
        for source in images["source"].unique()
        for names in base_names(files.archive(source)).values()
        for name in names
        if PurePosixPath(name).suffix.lower() in SUFFIXES and (source, name) not in listed
    ]
    logger.info("%d image files are in no split and are ignored%s", len(unlisted), _list_ids(unlisted))
    of_images, of_captions = (dict.fromkeys(table["image_id"]) for table in (images, captions))
    without = [image for image in of_captions if image not in of_images]
    logger.info("%d captioned images are in no split and are ignored%s", len(without), _list_ids(without))
    where = ", ".join(files.sources.values())
    silent = [image for image in of_images if image not in of_captions]
    refuse_alike(silent, without, f"{where}: images without a sentence, and sentences of images in no split")
    if only_available:  # else what is missing is named later
        missing = [name for source, name in listed if name not in files.archive(source)]
        refuse_alike(missing, unlisted, f"{where}: images that are missing, and files of no image")


def _describe_sources(paths: Paths) -> str:
    """The sources, each with three of its files."""
    there = {path: [] if is_plain_file(path) else Archive.open(path).names()[:3] for path in paths.values()}
    return "; ".join(f"{path} ({', '.join(names)})" if names else path for path, names in there.items())


def _check_images(images: pd.DataFrame, reading: Reading, paths: Paths) -> None:
    if images.empty:
        told = reading.options.model_dump(exclude_none=True)
        raise InputError(
            "the data set's splits list no images; see the options and sources of its config. The reader "
            f"{reading.reader} was told {told}, and there are {_describe_sources(paths)}."
        )
    twice = images.loc[images["image_id"].duplicated(), "image_id"]
    if len(twice):
        raise InputError(f"{len(twice)} image ids are in the data set twice{_list_ids(twice)}.")


def _check_files(images: pd.DataFrame) -> None:
    """Raises `InputError` that names two ids of one file."""
    again = images[images.duplicated(["source", "file"])]
    if len(again):
        file, other = again.iloc[0][["file", "image_id"]]
        first = images.loc[images["file"] == file, "image_id"].iloc[0]
        raise InputError(
            f"the images {first!r} and {other!r} are one file, {file} ({len(again):,} such images); keep one id."
        )


def _check_sentence_ids(captions: pd.DataFrame) -> None:
    """Raises `InputError` that names an id of two sentences."""
    ids = captions["sentid"].dropna() if "sentid" in captions else pd.Series(dtype=object)
    twice = ids[ids.duplicated()].astype(str)
    if len(twice):
        raise InputError(
            f"{len(twice)} ids of sentences are in the data set twice{_list_ids(twice)}; keep one of each."
        )


def _number_captions(all_captions: pd.DataFrame, images: pd.DataFrame, paths: Paths) -> pd.DataFrame:
    """Captions in the order of the images, with position, id and split; the text of each is one line."""
    captions = select_captions(images, all_captions.dropna(subset="text"))  # null is no sentence
    _check_sentence_ids(captions)
    if captions.empty:
        raise InputError(
            "no image that a split lists has a caption; are the ids in the data set's files the same? Images are "
            f"called {images['image_id'].head(3).tolist()}, and those of captions "
            f"{all_captions['image_id'].unique()[:3].tolist()}, in {_describe_sources(paths)}."
        )
    captions["text"] = captions["text"].map(clean_sentence)
    captions["position"] = captions.groupby("image_id", sort=False).cumcount().astype("int32")
    captions["caption_id"] = captions["image_id"] + "#" + captions["position"].astype(str)
    return captions


def _log(images: pd.DataFrame, captions: pd.DataFrame) -> None:
    """Logs what is unusual but kept."""
    logger.info("images by split: %s; captions: %d", images["split"].value_counts(sort=False).to_dict(), len(captions))
    logger.info("captions per image: %s", dict(sorted(Counter(images["captions"].tolist()).items())))
    for what, ids in (
        ("images without captions", images.loc[images["captions"] == 0, "image_id"]),
        ("empty captions", captions.loc[captions["text"] == "", "caption_id"]),
        (f"captions of more than {LONG} words", captions.loc[captions["text"].str.count(r"\S+") > LONG, "caption_id"]),
    ):
        if len(ids):
            logger.warning("%d %s are kept%s", len(ids), what, _list_ids(ids))


def examine_images(images: pd.DataFrame, files: ImageFiles, threads: int) -> tuple[pd.DataFrame, list[str]]:
    """The images with width, height, sha256 and status, each decoded once; and each one's problem, or an empty text."""
    # Pillow and hashlib release the interpreter lock.
    with ThreadPoolExecutor(threads) as pool:
        found = pool.map(lambda source, file: _examine(files, source, file), images["source"], images["file"])
        examined = list(progress(found, "decoding images", total=len(images)))
    facts = pd.DataFrame([facts for facts, _, _ in examined], columns=ImageFacts._fields)
    images = images.assign(**facts.astype(_SIZES), status=[status for _, status, _ in examined])
    return images, [problem for _, _, problem in examined]


def unreadable_message(images: pd.DataFrame, problems: Sequence[str]) -> str:
    """A message about images with a problem: their number, and up to 20 ids, quoted as in YAML."""
    bad = [(quote_id(image), problem) for image, problem in zip(images["image_id"], problems, strict=True) if problem]
    lines = [f"  {image}: {problem}" for image, problem in bad[:20]]
    lines += [f"  and {len(bad) - 20:,} more"] if len(bad) > 20 else []
    return "\n".join([f"{len(bad):,} of {len(images):,} images cannot be read:", *lines])


def quote_id(image_id: str) -> str:
    """An id quoted as YAML needs it; without quotes, 0012 would be the number 10."""
    return json.dumps(image_id, ensure_ascii=False)


def _check_readable(
    images: pd.DataFrame, problems: Sequence[str], reading: Reading, paths: Paths, listing: str | Path | None
) -> None:
    known, missing = {compose_accents(image) for image in reading.known_unreadable}, images["status"] == "missing"
    unknown = known - set(images["image_id"])
    if unknown:
        logger.warning("%d ids of known_unreadable are not in any split%s", len(unknown), _list_ids(sorted(unknown)))
    bad = images["status"] != "ok"
    allowed = images["image_id"].isin(known) | (missing & reading.only_available)
    stops = ["" if accepted else problem for accepted, problem in zip(allowed, problems, strict=True)]
    if any(stops):
        message = unreadable_message(images, stops)
        if missing.sum() * 2 > len(images):
            places = ", ".join(paths[source] for source in images["source"].unique())
            message += f"\nMost of them are missing: is {places} the right place, and are all photographs in it?"
        ids = [quote_id(image) for image in images.loc[bad, "image_id"]]
        message += "\nReplace them; or go on without them, by lines of your configuration"
        if listing is not None:
            lines = "".join(f"- {image}\n" for image in ids)
            write_text(
                f"# All images that cannot be read, to copy to the data set\nknown_unreadable:\n{lines}", listing
            )
            message += f" ({listing} lists all of them)"
        name = "<data set>" if listing is None else Path(listing).parent.name
        shown = f"[{', '.join(ids)}]" if len(ids) <= 20 else "[...]"
        message += f":\n  datasets:\n    {name}:\n      known_unreadable: {shown}"
        if missing.any():
            message += (
                "\nor leave out whatever is missing, by this in place of the last line; tables then say of how many "
                "images, and print no Difference from published figures:\n      only_available: true"
            )
        raise InputError(message)
    for split, readable in (~bad).groupby(images["split"], sort=False):
        if reading.only_available and not readable.any():
            raise InputError(f"only_available: none of the {len(readable):,} images of the split {split} is there.")
    if bad.any():
        logger.warning("%d images cannot be read, as allowed%s", bad.sum(), _list_ids(images.loc[bad, "image_id"]))


def _log_copies(images: pd.DataFrame) -> None:
    """Logs images that are the same file as images of another split, as training on one reveals the other."""
    for split, other in (("val", "train"), ("test", "train"), ("test", "val"), ("test", "test")):
        if found := copies(images, split, other):
            logger.warning(
                "%d images of %s are the same files as images of %s%s", len(found), split, other, _list_ids(found)
            )


def _examine(files: ImageFiles, source: str, file: str) -> tuple[ImageFacts, str, str]:
    """The properties of an image, its status, and its problem."""
    try:
        data = files.read(source, file)
    except InputError as error:
        return ImageFacts(0, 0, ""), "unreadable" if file in files.archive(source) else "missing", str(error)
    try:
        return examine(data, f"{files.sources[source]}, {file}"), "ok", ""
    except InputError as error:
        return ImageFacts(0, 0, sha256(data).hexdigest()), "unreadable", str(error)


def _list_ids(ids: Collection[str]) -> str:
    """Up to 20 of the ids, to end a message."""
    return (": " if len(ids) else "") + ", ".join(list(ids)[:20]) + (", ..." if len(ids) > 20 else "")


HELD_OUT_FIRST = ("test", "val", "train")
"""In the order in which they are drawn, so that more training images leave the others as they are."""


def resplit(images: pd.DataFrame, captions: pd.DataFrame, draw: Mapping[str, int]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The image table and the caption table with random splits; `draw` has their seed and sizes.

    Only readable images are drawn, and the others are left out. All images of a family fall into one split, so that a
    split may exceed its size. With `chosen_on`, the images that the draw of this seed has for val leave the split test.
    Raises `InputError` if there are too few images.
    """
    readable = images[images["status"] == "ok"]
    of_family = _draw_splits(readable, draw, draw["seed"])
    if "chosen_on" in draw:
        seen = {name for name, split in _draw_splits(readable, draw, draw["chosen_on"]).items() if split == "val"}
        of_family = {name: split for name, split in of_family.items() if split != "test" or name not in seen}
    drawn_images = sort_by_split(readable.assign(split=readable["family"].map(of_family)).dropna(subset="split"))
    return drawn_images, select_captions(drawn_images, captions)


def _draw_splits(readable: pd.DataFrame, draw: Mapping[str, int], seed: int) -> dict[str, str]:
    """The split of each family that is drawn with a seed. Raises `InputError` if there are too few images."""
    sizes = readable.groupby("family", sort=False).size()
    shuffled = np.random.default_rng(seed).permutation(len(sizes))
    ends = np.cumsum(sizes.to_numpy()[shuffled])
    first, of_family = 0, dict[str, str]()
    for split in HELD_OUT_FIRST:
        drawn = ends[first - 1] if first else 0
        last = first + int(np.searchsorted(ends[first:], drawn + draw[split]))
        if last >= len(ends):
            wanted = ", ".join(f"{draw[name]:,} of {name}" for name in HELD_OUT_FIRST)
            raise InputError(
                f"resplit: {wanted} are asked for, and {len(readable):,} images can be read; ask for less."
            )
        of_family |= dict.fromkeys(sizes.index[shuffled[first : last + 1]], split)
        first = last + 1
    return of_family


def write_resplit(image_table: str, caption_table: str, draw: Mapping[str, int], images: str, captions: str) -> None:
    """The job that draws new splits of a data set: `resplit` of its tables, written as the two of another data set."""
    drawn_images, drawn_captions = resplit(schema.read(image_table, IMAGES), schema.read(caption_table, CAPTIONS), draw)
    by_name = drawn_images["split"].value_counts(sort=False).to_dict()
    logger.info("images by split: %s; captions: %d", by_name, len(drawn_captions))
    schema.write(drawn_images, IMAGES, images)
    schema.write(drawn_captions, CAPTIONS, captions)
