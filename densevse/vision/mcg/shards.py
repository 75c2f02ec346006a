"""Runs MCG on a shard of a data set: from contour maps to boxes, masks and samples for rankers."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX
from densevse.artifacts.files import checksum
from densevse.artifacts.lineage import PathOrPaths, lineage
from densevse.artifacts.run_lengths import encode
from densevse.artifacts.schema import Schema, read, write
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import (
    BOX_COUNTS,
    CANDIDATES,
    CONTOURS,
    MASKS,
    PROPOSALS,
    SEGMENT_OVERLAP,
    SEGMENTS,
)
from densevse.artifacts.shards import remove_superseded
from densevse.vision.mcg.candidates import candidates, features, members_of
from densevse.vision.mcg.forest import Ranker, load
from densevse.vision.mcg.hierarchy import hierarchies
from densevse.vision.mcg.learning import draw, objects_of, overlaps
from densevse.vision.mcg.proposing import McgProposals, propose
from densevse.vision.processes import in_processes

Rows = Mapping[str, Any]
"""Columns of an artifact: arrays or lists of one length, or one value for all."""

Item = TypeVar("Item")


class Image(NamedTuple):
    """An image with contour maps: its size in pixels, and its maps (PNG), finest scale first."""

    image_id: str
    height: int
    width: int
    pictures: Sequence[bytes]

    def contours(self) -> list[NDArray[np.uint8]]:
        """The maps (h, w), which may be smaller than the image."""
        return [decoded(picture) for picture in self.pictures]


def propose_by_mcg(
    image_table: str,
    contours: str,
    ranker: str,
    options: Mapping[str, Any],
    wildcards: Mapping[str, Any],
    threads: int,
    output: str,
) -> None:
    """The job that writes the proposals (PROPOSALS) of a shard's images; see `proposals`."""
    make = partial(proposals, ranker=load(ranker), options=options, processes=threads)
    inputs = {"image_table": image_table, "contours": contours, "ranker": ranker}
    write_shard(make, PROPOSALS, inputs, _settings(wildcards, options), output)


def segment_by_mcg(
    image_table: str,
    contours: str,
    ranker: str,
    options: Mapping[str, Any],
    wildcards: Mapping[str, Any],
    threads: int,
    output: str,
) -> None:
    """The job that writes the masks of the same proposals (SEGMENTS); see `segments`."""
    make = partial(segments, ranker=load(ranker), options=options, processes=threads)
    inputs = {"image_table": image_table, "contours": contours, "ranker": ranker}
    write_shard(make, SEGMENTS, inputs, _settings(wildcards, options), output)


def measure_segments(
    image_table: str,
    contours: str,
    masks: str,
    ranker: str,
    options: Mapping[str, Any],
    wildcards: Mapping[str, Any],
    threads: int,
    output: str,
) -> None:
    """The job that compares the same proposals with objects (MASKS); see `segment_overlap`."""
    objects = read(masks, MASKS)
    make = partial(segment_overlap, masks=objects, ranker=load(ranker), options=options, processes=threads)
    inputs = {"image_table": image_table, "contours": contours, "masks": masks, "ranker": ranker}
    write_shard(make, SEGMENT_OVERLAP, inputs, _settings(wildcards, options), output)


def sample_candidates(
    image_table: str, contours: str, masks: str, options: Mapping[str, Any], threads: int, output: str
) -> None:
    """The job that draws candidates (CANDIDATES) of a shard's training images with objects (MASKS).

    See `ranker_sample`.
    """
    make = partial(ranker_sample, masks=read(masks, MASKS), options=options, processes=threads)
    inputs = {"image_table": image_table, "contours": contours, "masks": masks}
    write_shard(make, CANDIDATES, inputs, options, output, split="train")


def _settings(wildcards: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    return {"proposer": wildcards["proposer"], "kind": "mcg", **options}


def images_with(contours: pd.DataFrame, rows: pd.DataFrame) -> list[Image]:
    """The images among rows of the image table that have contour maps (CONTOURS)."""
    sizes = {
        str(name): (int(height), int(width))
        for name, height, width in zip(rows["image_id"], rows["height"], rows["width"], strict=True)
    }
    groups = contours.groupby("image_id", sort=False)
    return [Image(str(name), *sizes[str(name)], list(group["picture"])) for name, group in groups if str(name) in sizes]


def write_shard(
    make: Callable[[list[Image]], pd.DataFrame],
    schema: Schema,
    inputs: Mapping[str, str],
    settings: Mapping[str, Any],
    path: str | Path,
    split: str | None = None,
) -> None:
    """Writes the rows (of `schema`) that `make` returns for the images of a shard, or of one `split`.

    `inputs` are the files of the job: image_table and contours, and masks and ranker if `make` uses them. They and
    `settings` become the lineage.
    """
    rows = read(inputs["image_table"], IMAGES)
    images = images_with(read(inputs["contours"], CONTOURS), rows if split is None else rows[rows["split"] == split])
    learned = {"ranker_sha256": checksum(inputs["ranker"])} if "ranker" in inputs else {}
    parents: dict[str, PathOrPaths] = {"images": inputs["image_table"], "masks": inputs.get("masks", [])}
    write(make(images), schema, path, lineage({**settings, **learned}, parents))
    remove_superseded(path)


def proposals(images: Sequence[Image], ranker: Ranker, options: Mapping[str, Any], processes: int) -> pd.DataFrame:
    """The proposals (PROPOSALS) of images, best first, in the pixels of each image.

    `options` are a proposer's: candidates, superpixels, boxes. The number of `processes` does not change the result.
    """
    return _of_each(images, partial(_boxes, ranker, dict(options)), PROPOSALS, processes)


def segments(images: Sequence[Image], ranker: Ranker, options: Mapping[str, Any], processes: int) -> pd.DataFrame:
    """The masks (SEGMENTS) of the proposals of images, best first, in the pixels of each image: see `proposals`."""
    return _of_each(images, partial(_segments, ranker, dict(options)), SEGMENTS, processes)


def segment_overlap(
    images: Sequence[Image], masks: pd.DataFrame, ranker: Ranker, options: Mapping[str, Any], processes: int
) -> pd.DataFrame:
    """The overlap of proposals with the objects of images (SEGMENT_OVERLAP), given as `masks` (MASKS)."""
    return _of_each(_with_masks(images, masks), partial(_overlap, ranker, dict(options)), SEGMENT_OVERLAP, processes)


def ranker_sample(
    images: Sequence[Image], masks: pd.DataFrame, options: Mapping[str, Any], processes: int
) -> pd.DataFrame:
    """Candidates of images from which a ranker learns (CANDIDATES); `masks` (MASKS) are those of their objects.

    `options` are a proposer's: candidates, superpixels. An image without masks has none.
    """
    return _of_each(_with_masks(images, masks), partial(_sample, dict(options)), CANDIDATES, processes)


def _with_masks(images: Sequence[Image], masks: pd.DataFrame) -> list[tuple[Image, pd.DataFrame]]:
    """The images with masks (MASKS), each with its own."""
    of_image = {str(name): group for name, group in masks.groupby("image_id", sort=False)}
    return [(image, of_image[image.image_id]) for image in images if image.image_id in of_image]


def _of_each(items: Sequence[Item], work: Callable[[Item], Rows], schema: Schema, processes: int) -> pd.DataFrame:
    """The rows that `work` returns for each image (or image with masks), in order, computed in `processes`."""
    columns = [column.name for column in schema.columns]
    frames: list[pd.DataFrame] = [schema.arrow.empty_table().to_pandas()]
    found = in_processes(work, items, processes, "MCG")
    frames += [pd.DataFrame(rows, columns=columns) for rows in found]
    return pd.concat(frames, ignore_index=True)


def _proposed(image: Image, ranker: Ranker, options: Mapping[str, Any]) -> McgProposals:
    forest = ranker.forest(image.image_id)
    return propose(image.contours(), options["candidates"], forest, options["superpixels"], options["boxes"])


def _boxes(ranker: Ranker, options: Mapping[str, Any], image: Image) -> Rows:
    found = _proposed(image, ranker, options)
    boxes = found.boxes(image.height, image.width)
    named = {"image_id": image.image_id, "rank": np.arange(len(boxes), dtype=np.int32), "class_name": ""}
    return named | dict(zip(BOX, boxes.T, strict=True)) | {"score": found.scores[found.boxed]}


def _segments(ranker: Ranker, options: Mapping[str, Any], image: Image) -> Rows:
    found = _proposed(image, ranker, options)
    labels = cv2.resize(found.superpixels.labels, (image.width, image.height), interpolation=cv2.INTER_NEAREST)
    members = (members_of(bits[None], len(found.superpixels))[0] for bits in found.candidates.bits)
    return {
        "image_id": image.image_id,
        "rank": np.arange(len(found.scores), dtype=np.int32),
        "score": found.scores,
        "height": np.int32(image.height),
        "width": np.int32(image.width),
        "runs": [encode(inside[labels]) for inside in members],
    }


def _overlap(ranker: Ranker, options: Mapping[str, Any], known: tuple[Image, pd.DataFrame]) -> Rows:
    image, masks = known
    found = _proposed(image, ranker, options)
    jaccards = overlaps(found.candidates, found.superpixels, objects_of(masks))
    best = np.stack([jaccards[: count or None].max(axis=0) for count in BOX_COUNTS])
    return {
        "image_id": image.image_id,
        "object": np.tile(np.arange(best.shape[1], dtype=np.int32), len(BOX_COUNTS)),
        "segments": np.repeat(np.array(BOX_COUNTS, np.int32), best.shape[1]),
        "jaccard": best.ravel(),
    }


def _sample(options: Mapping[str, Any], known: tuple[Image, pd.DataFrame]) -> Rows:
    image, masks = known
    found = hierarchies(image.contours(), options["superpixels"])
    formed = candidates(found, options["candidates"])
    jaccards = overlaps(formed, found.superpixels, objects_of(masks))
    drawn = draw(jaccards, zlib.crc32(image.image_id.encode()))
    described = features(formed[drawn], found)
    return {"image_id": image.image_id, "features": list(described), "jaccard": jaccards[drawn].max(axis=1)}


def decoded(picture: bytes) -> NDArray[np.uint8]:
    """The contour map of a row of CONTOURS."""
    return np.asarray(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)
