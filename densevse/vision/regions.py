"""Regions of an image: the whole image and the detections that a network scores highest among the proposals.

R-CNN (Girshick et al., CVPR 2014), as DeFrag and HM-LSTM use it: every proposal is warped to the network's input with
some context around, the network gives class scores and a feature, non-maximum suppression removes repetitions within a
class, and the best 19 stay beside the whole image. The options stand under `regions` of a config/networks entry:

    scoring             crops (as above), or roi_align: one convolution pass over the image, from whose map every
                        proposal is read (shared convolution; not the papers' features, but many times faster)
    features            of the regions that stay: crops (warped, as above; with scoring roi_align the class and score
                        are then the crop's as well) or roi_align (read from the shared map as well)
    detections          regions besides the whole image; an image may have fewer
    maximum_proposals   proposals an image that are scored, in the proposer's order
    nms_threshold       overlap above which the lower of two regions of a class goes
    context             pixels of context on each side of a crop, for crops of 227 pixels as R-CNN's
    crop_size           side of the crops; the network's `size` by default
    score               probability (the best class's softmax), or class (the last layer as it is: R-CNN's SVMs)
    area_exponent       a region's score is its class score times (its share of the image's area) to this power. A
                        classifier of whole images is as sure of a dog's ear as of the dog, which a detector that was
                        trained on boxes is not: so 0.5 for the former, 0 for R-CNN
    background          the class, if there is one, that stands for no thing: no region has it
    map                 roi_align: the layer that is shared
    map_size            roi_align: shorter side to which an image is resized for the shared pass; null for its own
    cells               roi_align: positions along a side that a proposal becomes on the map

A region has one class, its best: the same location is never two regions. With the architecture faster_rcnn the boxes
are the detector's own, there are no proposals, and only `detections` and `nms_threshold` apply.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, Boxes
from densevse.artifacts.files import checksum
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_superseded
from densevse.artifacts.store import FeatureWriter
from densevse.datasets.images import ImageFiles, decode
from densevse.errors import InputError
from densevse.logs import progress
from densevse.vision.boxes import by_score, clip, non_maximum_suppression
from densevse.vision.crops import warp
from densevse.vision.extract import DTYPE, READERS, readable
from densevse.vision.faster_rcnn import FasterRCNN
from densevse.vision.networks import Network, load_network
from densevse.vision.pipeline import ahead
from densevse.vision.region_network import Described, RegionNetwork
from densevse.vision.views import Pixels, resize_shorter_side

Item = TypeVar("Item")


@dataclass(frozen=True)
class RegionOptions:
    """The options that the module's description lists."""

    scoring: Literal["crops", "roi_align"] = "crops"
    features: Literal["crops", "roi_align"] = "crops"
    detections: int = 19
    maximum_proposals: int = 2000
    nms_threshold: float = 0.3
    context: float = 16
    crop_size: int | None = None
    score: Literal["probability", "class"] = "probability"
    area_exponent: float = 0.0
    background: str | None = None
    map: str = "conv"
    map_size: int | None = None
    cells: int = 7

    @classmethod
    def read(cls, values: Mapping[str, Any], where: str) -> "RegionOptions":
        """The options of a config entry. Raises `InputError` for one that is unknown or does not fit."""
        try:
            options = cls(**values)
        except TypeError as error:
            raise InputError(f"{where}: {error}; known: {', '.join(cls.__dataclass_fields__)}.") from None
        for name, known in {"scoring": METHODS, "features": METHODS, "score": ("probability", "class")}.items():
            if getattr(options, name) not in known:
                raise InputError(f"{where}.{name}: {getattr(options, name)!r} is none of {', '.join(known)}.")
        if options.scoring == "crops" and options.features != "crops":
            raise InputError(f"{where}: features read from a shared map need scoring: roi_align too.")
        return options


METHODS = ("crops", "roi_align")


@dataclass(frozen=True)
class Candidates:
    """An image with boxes of it, the whole image first."""

    image_id: str
    pixels: Pixels
    boxes: Boxes


class Window(NamedTuple):
    """A box of an image that becomes a crop."""

    pixels: Pixels
    box: NDArray[np.float32]
    context: float


class Regions(NamedTuple):
    """The regions of an image, best first after the whole image."""

    image_id: str
    boxes: Boxes
    described: Described


def choose(
    candidates: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    """Choose and describe the regions of images, in order. Crops are made in `pool`, ahead of the network."""
    if options.scoring == "crops":
        return (_best(found, options) for found in _of_crops(candidates, network, options, pool))
    chosen = ((image, _best(_of_map(image, network, options), options)) for image in candidates)
    if options.features == "roi_align":
        return (found for _, found in chosen)
    images = (replace(image, boxes=found.boxes) for image, found in chosen)
    return (_sorted(found) for found in _of_crops(images, network, options, pool))


def _scored(image: Candidates, described: Described, options: RegionOptions) -> Regions:
    """The regions of an image, the class scores weighted by `area_exponent`."""
    areas = image.boxes[:, 2:].prod(axis=1)
    weights = (areas / areas[0]) ** options.area_exponent
    return Regions(image.image_id, image.boxes, described._replace(scores=described.scores * weights))


def _best(found: Regions, options: RegionOptions) -> Regions:
    """The whole image and the best detections among the others."""
    scores, classes = found.described.scores[1:], found.described.classes[1:]
    kept = non_maximum_suppression(found.boxes[1:], scores, classes, options.nms_threshold, options.detections)
    indices = np.concatenate([[0], kept + 1]).astype(np.int64)
    return Regions(found.image_id, found.boxes[indices], found.described.take(indices))


def _sorted(found: Regions) -> Regions:
    order = np.concatenate([[0], by_score(found.boxes[1:], found.described.scores[1:]) + 1]).astype(np.int64)
    return Regions(found.image_id, found.boxes[order], found.described.take(order))


# --- crops -------------------------------------------------------------------------------------------------------


def _of_crops(
    images: Iterable[Candidates], network: RegionNetwork, options: RegionOptions, pool: Executor
) -> Iterator[Regions]:
    """Describe all boxes by crops, in batches that mix images and all have the same size."""
    settings = network.network.settings
    size, batch_size = options.crop_size or settings.size, settings.batch_size
    red, green, blue = (round(255 * channel) for channel in settings.mean)
    begun: deque[Candidates] = deque()

    def windows() -> Iterator[Window]:
        for image in images:
            begun.append(image)
            for number, box in enumerate(image.boxes):
                yield Window(image.pixels, box, context=options.context if number else 0)

    def crops(batch: Sequence[Window]) -> tuple[int, Pixels]:
        made = np.empty((batch_size, size, size, 3), np.uint8)
        for number, window in enumerate(batch):
            made[number] = warp(window.pixels, window.box, size, window.context, (red, green, blue))
        made[len(batch) :] = made[0]
        return len(batch), made

    waiting: list[Described] = []
    for count, batch in ahead(pool, crops, _chunks(windows(), batch_size), depth=2):
        waiting.append(network.of_crops(batch).take(slice(0, count)))
        while begun and sum(len(part.scores) for part in waiting) >= len(begun[0].boxes):
            image = begun.popleft()
            together = Described(*map(np.concatenate, zip(*waiting, strict=True)))
            waiting = [together.take(slice(len(image.boxes), None))]
            yield _scored(image, together.take(slice(0, len(image.boxes))), options)


# --- shared convolution ------------------------------------------------------------------------------------------


def _of_map(image: Candidates, network: RegionNetwork, options: RegionOptions) -> Regions:
    """Describe all boxes by one pass over the image: alone, so that no other image touches its last bits."""
    pixels = image.pixels if options.map_size is None else resize_shorter_side(image.pixels, options.map_size)
    scale = pixels.shape[1] / image.pixels.shape[1], pixels.shape[0] / image.pixels.shape[0]
    boxes = (image.boxes * (*scale, *scale)).astype(np.float32)
    return _scored(image, network.of_boxes(pixels, boxes, options.cells), options)


def _chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    iterator = iter(items)
    while chunk := list(islice(iterator, size)):
        yield chunk


# --- a shard -----------------------------------------------------------------------------------------------------


def extract_regions(
    images: str | Path,
    proposals: str | Path | None,
    sources: Mapping[str, str],
    settings: Mapping[str, Any],
    weights: str | Path,
    classes: Sequence[str],
    shard: str,
    path: str | Path,
) -> None:
    """Write a shard's regions (schema REGION_FEATURES) to `path`.

    `images` is the image table, `proposals` the shard's proposals (none for the architecture faster_rcnn, which has its
    own), `sources` the data set's files by source name, `settings` a config/networks entry as plain values, `classes`
    its class names in the order of its scores. Raises `InputError` naming the image, file or key at fault.
    """
    rows = readable(read(images, IMAGES), shard)
    options = RegionOptions.read(settings["regions"], "networks: regions")
    made_from = {"network": dict(settings), "view": "regions", "weights_sha256": checksum(weights)}
    files = ImageFiles(sources)
    cv2.setNumThreads(1)  # the threads here are the readers'
    with ThreadPoolExecutor(READERS) as pool, ExitStack() as stack:
        if proposals is None:
            found = _detected(rows, files, FasterRCNN(weights, options.detections, options.nms_threshold), pool)
        else:
            network = load_network(settings, weights)
            describing = _describing(network, options, classes)
            boxes = boxes_of_images(read(proposals, PROPOSALS), rows, options.maximum_proposals, str(proposals))
            found = choose(_candidates(rows, files, boxes, pool), describing, options, pool)
        writer = None
        for regions in progress(found, "regions of images", len(rows)):
            if writer is None:
                shape = regions.described.vectors.shape[1:]
                writer = stack.enter_context(FeatureWriter(path, REGION_FEATURES, shape, DTYPE, made_from))
            writer.append(_rows(regions, classes), regions.described.vectors)
    remove_superseded(path)


def _describing(network: Network, options: RegionOptions, classes: Sequence[str]) -> RegionNetwork:
    if options.background is not None and options.background not in classes:
        raise InputError(f"networks: regions.background: {options.background!r} is none of the network's classes.")
    background = None if options.background is None else classes.index(options.background)
    layer = network.settings.layers["regions"]
    return RegionNetwork(network, layer, options.map, options.score == "probability", background)


def boxes_of_images(proposals: pd.DataFrame, rows: pd.DataFrame, most: int, where: str) -> list[Boxes]:
    """The first `most` proposals of each image of `rows`, after the whole image itself: (1 + n, 4) an image.

    A proposal that is the whole image is left out, as that is there. Raises `InputError` for proposals of images
    that are not in `rows`, and for a box that lies outside its image.
    """
    unknown = set(proposals["image_id"]) - set(rows["image_id"])
    if unknown:
        raise InputError(
            f"{where}: proposals of {len(unknown)} images that are not in this shard, such as {min(unknown)!r}. They "
            "are of another data set or division: delete the file and run snakemake again to make it anew."
        )
    found = {str(image_id): group for image_id, group in proposals.groupby("image_id", sort=False)}
    nothing = proposals.iloc[:0]
    boxes = []
    for image_id, width, height in zip(rows["image_id"], rows["width"], rows["height"], strict=True):
        proposed = found.get(image_id, nothing).sort_values("rank")[BOX].to_numpy(np.float32)[:most]
        whole = np.array([[0, 0, width, height]], np.float32)
        inside = clip(proposed, width, height)
        if (inside[:, 2:] <= 0).any():
            raise InputError(
                f"{where}: image {image_id}: a box outside its {width} x {height} pixels. The proposals are of other "
                "images: delete the file and run snakemake again to make it anew."
            )
        boxes.append(np.concatenate([whole, inside[(inside != whole).any(axis=1)]]))
    return boxes


def _candidates(rows: pd.DataFrame, files: ImageFiles, boxes: list[Boxes], pool: Executor) -> Iterator[Candidates]:
    """The images with their boxes, decoded ahead."""
    pixels = ahead(pool, partial(_read, files=files), _named(rows), depth=2 * READERS)
    return map(Candidates, rows["image_id"], pixels, boxes)


def _detected(rows: pd.DataFrame, files: ImageFiles, detector: FasterRCNN, pool: Executor) -> Iterator[Regions]:
    """What a detector with boxes of its own finds, image by image."""
    pixels = ahead(pool, partial(_read, files=files), _named(rows), depth=2 * READERS)
    for image_id, image in zip(rows["image_id"], pixels, strict=True):
        yield Regions(image_id, *detector.detect(image))


def _named(rows: pd.DataFrame) -> Iterator[tuple[str, str]]:
    return zip(rows["source"], rows["file"], strict=True)


def _read(named: tuple[str, str], files: ImageFiles) -> Pixels:
    source, file = named
    return decode(files.read(source, file), f"{source}: {file}")


def _rows(regions: Regions, classes: Sequence[str]) -> pd.DataFrame:
    described = regions.described
    frame = pd.DataFrame(regions.boxes, columns=BOX)
    frame.insert(0, "image_id", regions.image_id)
    frame.insert(1, "rank", np.arange(len(frame), dtype=np.int32))
    frame["score"] = described.scores
    frame["class_name"] = ["", *(classes[number] for number in described.classes[1:])]
    return frame
