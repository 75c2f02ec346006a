"""Runs MCG on a shard of a data set: from contour maps to boxes, masks and samples for rankers."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeVar

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import (
    BOX_COUNTS,
    CANDIDATES,
    CONTOURS,
    MASKS,
    PROPOSALS,
    SEGMENT_OVERLAP,
    SEGMENTS,
    run_lengths,
    runs_to_mask,
)
from densevse.artifacts.shards import remove_old_shards
from densevse.vision.mcg.candidates import GroupedCandidates, candidates, features, unpack_bits
from densevse.vision.mcg.forest import Ranker, load_ranker
from densevse.vision.mcg.hierarchy import Superpixels, hierarchies
from densevse.vision.mcg.proposing import McgProposals, propose
from densevse.vision.processes import map_in_processes
from snakeproof.schema import Schema, read, write

Rows = Mapping[str, Any]
"""Columns of an artifact: arrays or lists of one length, or one value for all."""

Item = TypeVar("Item")

DRAWN = 30
"""The number of candidates learned from in each image, beside the best for each object, as the authors do."""

_CHUNK = 2048
"""The number of candidates whose overlaps are computed at a time, which bounds memory."""


class Image(NamedTuple):
    """An image with contour maps: its size in pixels, and its maps (PNG), finest scale first."""

    image_id: str
    height: int
    width: int
    pictures: Sequence[bytes]

    def contours(self) -> list[NDArray[np.uint8]]:
        """The maps (h, w), which may be smaller than the image."""
        return [decode_map(picture) for picture in self.pictures]


def write_ranked_rows(
    image_table: str,
    contours: str,
    ranker: str,
    options: Mapping[str, Any],
    artifact: str,
    threads: int,
    output: str,
    masks: str | None = None,
) -> None:
    """The job that writes what the ranked candidates of a shard's images give, a key of `RANKED`; see `ranked_rows`."""
    objects = None if masks is None else read(masks, MASKS)
    table = read(image_table, IMAGES)
    images = images_with_contours(read(contours, CONTOURS), table)
    found = ranked_rows(artifact, images, load_ranker(ranker), options, threads, objects)
    write(found, RANKED[artifact][0].bind(images=table), output)
    remove_old_shards(output)


def sample_candidates(
    image_table: str, contours: str, masks: str, options: Mapping[str, Any], threads: int, output: str
) -> None:
    """The job that draws candidates (CANDIDATES) of a shard's training images with objects (MASKS).

    See `ranker_sample`.
    """
    images = images_with_contours(read(contours, CONTOURS), read(image_table, IMAGES).query("split == 'train'"))
    write(ranker_sample(images, read(masks, MASKS), options, threads), CANDIDATES, output)
    remove_old_shards(output)


def images_with_contours(contours: pd.DataFrame, rows: pd.DataFrame) -> list[Image]:
    """The images among rows of the image table that have contour maps (CONTOURS)."""
    sizes = {
        str(name): (int(height), int(width))
        for name, height, width in zip(rows["image_id"], rows["height"], rows["width"], strict=True)
    }
    groups = contours.groupby("image_id", sort=False)
    return [Image(str(name), *sizes[str(name)], list(group["picture"])) for name, group in groups if str(name) in sizes]


def ranked_rows(
    artifact: str,
    images: Sequence[Image],
    ranker: Ranker,
    options: Mapping[str, Any],
    processes: int,
    masks: pd.DataFrame | None = None,
) -> pd.DataFrame:
    """The rows of an artifact of `RANKED` for images, best candidate first, in the pixels of each image.

    `options` are a proposer's: candidates, superpixels, boxes. With `masks` (MASKS) only the images that have some are
    taken. The number of `processes` does not change the result.
    """
    schema, rows = RANKED[artifact]
    items = images if masks is None else _match_masks(images, masks)
    return _compute_rows(items, partial(rows, ranker, dict(options)), schema, processes)


def ranker_sample(
    images: Sequence[Image], masks: pd.DataFrame, options: Mapping[str, Any], processes: int
) -> pd.DataFrame:
    """Candidates of images from which a ranker learns (CANDIDATES); `masks` (MASKS) are those of their objects.

    `options` are a proposer's: candidates, superpixels. An image without masks has none.
    """
    return _compute_rows(_match_masks(images, masks), partial(_sample, dict(options)), CANDIDATES, processes)


def _match_masks(images: Sequence[Image], masks: pd.DataFrame) -> list[tuple[Image, pd.DataFrame]]:
    """The images with masks (MASKS), each with its own."""
    of_image = {str(name): group for name, group in masks.groupby("image_id", sort=False)}
    return [(image, of_image[image.image_id]) for image in images if image.image_id in of_image]


def _compute_rows(items: Sequence[Item], work: Callable[[Item], Rows], schema: Schema, processes: int) -> pd.DataFrame:
    """The rows that `work` returns for each image (or image with masks), in order, computed in `processes`."""
    columns = [column.name for column in schema.columns]
    frames: list[pd.DataFrame] = [schema.arrow.empty_table().to_pandas()]
    found = map_in_processes(work, items, processes, "MCG")
    frames += [pd.DataFrame(rows, columns=columns) for rows in found]
    return pd.concat(frames, ignore_index=True)


def _mcg_proposals(image: Image, ranker: Ranker, options: Mapping[str, Any]) -> McgProposals:
    forest = ranker.forest(image.image_id)
    return propose(image.contours(), options["candidates"], forest, options["superpixels"], options["boxes"])


def _boxes(ranker: Ranker, options: Mapping[str, Any], image: Image) -> Rows:
    found = _mcg_proposals(image, ranker, options)
    boxes = found.boxes(image.height, image.width)
    named = {"image_id": image.image_id, "rank": np.arange(len(boxes), dtype=np.int32), "class_name": ""}
    return named | dict(zip(BOX, boxes.T, strict=True)) | {"score": found.scores[found.boxed]}


def _segments(ranker: Ranker, options: Mapping[str, Any], image: Image) -> Rows:
    found = _mcg_proposals(image, ranker, options)
    labels = cv2.resize(found.superpixels.labels, (image.width, image.height), interpolation=cv2.INTER_NEAREST)
    members = (unpack_bits(bits[None], len(found.superpixels))[0] for bits in found.candidates.bits)
    return {
        "image_id": image.image_id,
        "rank": np.arange(len(found.scores), dtype=np.int32),
        "score": found.scores,
        "height": np.int32(image.height),
        "width": np.int32(image.width),
        "runs": [run_lengths(inside[labels]) for inside in members],
    }


def _overlap(ranker: Ranker, options: Mapping[str, Any], known: tuple[Image, pd.DataFrame]) -> Rows:
    image, masks = known
    found = _mcg_proposals(image, ranker, options)
    jaccards = overlaps(found.candidates, found.superpixels, object_masks(masks))
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
    jaccards = overlaps(formed, found.superpixels, object_masks(masks))
    drawn = draw_candidates(jaccards, zlib.crc32(image.image_id.encode()))
    described = features(formed[drawn], found)
    return {"image_id": image.image_id, "features": list(described), "jaccard": jaccards[drawn].max(axis=1)}


RANKED: Mapping[str, tuple[Schema, Callable[[Ranker, Mapping[str, Any], Any], Rows]]] = {
    "proposals": (PROPOSALS, _boxes),
    "segments": (SEGMENTS, _segments),
    "segment_overlap": (SEGMENT_OVERLAP, _overlap),
}
"""The artifacts of ranked candidates: the schema, and the rows of an image (or of an image with masks)."""


# --- overlaps with objects --------------------------------------------------------------------------------------


def overlaps(
    chosen: GroupedCandidates, superpixels: Superpixels, objects: Sequence[NDArray[np.bool_]]
) -> NDArray[np.float32]:
    """(C, O) the Jaccard of C candidates with the masks of O objects; a mask of another size is resized."""
    height, width = superpixels.labels.shape
    inside = np.zeros((len(superpixels), len(objects)), np.float32)
    for number, mask in enumerate(objects):
        resized = cv2.resize(mask.astype(np.uint8), (width, height), interpolation=cv2.INTER_NEAREST)
        inside[:, number] = np.bincount(superpixels.labels[resized > 0], minlength=len(superpixels))
    found = np.empty((len(chosen), len(objects)), np.float32)
    for start in range(0, len(chosen), _CHUNK):
        part = slice(start, start + _CHUNK)
        shared = unpack_bits(chosen.bits[part], len(superpixels)).astype(np.float32) @ inside
        together = chosen.areas[part, None] + inside.sum(axis=0) - shared
        found[part] = shared / together
    return found


def object_masks(masks: pd.DataFrame) -> list[NDArray[np.bool_]]:
    """The masks (H, W) of rows of MASKS."""
    sizes = zip(masks["runs"], masks["height"], masks["width"], strict=True)
    return [runs_to_mask(runs, height, width) for runs, height, width in sizes]


def draw_candidates(jaccards: NDArray[np.float32], seed: int) -> NDArray[np.int64]:
    """The candidates to learn from, given (C, O) Jaccards: the best for each object, and DRAWN random ones."""
    random = np.random.default_rng(seed)
    drawn = random.permutation(len(jaccards))[:DRAWN]
    return np.unique(np.concatenate([jaccards.argmax(axis=0), drawn]))


def decode_map(picture: bytes) -> NDArray[np.uint8]:
    """The contour map of a row of CONTOURS."""
    return np.asarray(cv2.imdecode(np.frombuffer(picture, np.uint8), cv2.IMREAD_GRAYSCALE), np.uint8)
