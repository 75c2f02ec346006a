"""Extracts the features of regions and writes them: regions chosen among proposals, or true boxes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from importlib import import_module
from typing import Any, NamedTuple, Protocol

import cv2
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.boxes import BOX, Boxes, are_mostly_outside, sizes_by_image
from densevse.artifacts.images import Photographs
from densevse.artifacts.phrase_boxes import phrase_boxes
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_old_shards
from densevse.config.networks import RegionOptions
from densevse.config.registries import ARCHITECTURES
from densevse.runtime.ahead import prefetch_results
from densevse.runtime.numerics import set_up
from densevse.vision.boxes import clip_boxes
from densevse.vision.crops import Pixels
from densevse.vision.extract import NetworkFiles, decoding_threads, readable_rows
from densevse.vision.networks import Network, read_classes
from densevse.vision.regions import (
    Candidates,
    Described,
    Detected,
    RegionNetwork,
    Regions,
    choose_detected_regions,
    choose_regions,
    chunks,
)
from snakeproof.errors import InputError
from snakeproof.logs import progress
from snakeproof.schema import read
from snakeproof.store import FeatureWriter
from snakeproof.strict import validate

IMAGES_AT_ONCE = 64
"""Images whose regions are written together."""


def extract_regions(
    image_table: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    weights: str,
    all_stay: bool,
    output: str,
    wildcards: Mapping[str, str],
    threads: int,
    proposals: str | None = None,
    precision: str | None = None,
    class_names: str | None = None,
) -> None:
    """The job that writes a shard's regions (REGION_FEATURES).

    `proposals` are the shard's (none for an architecture that finds its own boxes), `sources` the data set's files by
    source name. `network`, `weights` and `precision` are as in `NetworkFiles`, and `class_names` is a file as in
    `read_classes`. With `all_stay` every proposal becomes a region, as they were chosen before. Raises `InputError`
    that names the wrong image, file or key.
    """
    set_up(threads)
    network_files = NetworkFiles(wildcards["network"], network, weights, precision)
    rows = readable_rows(read(image_table, IMAGES), wildcards["shard"])
    classes: Sequence[str] = read_classes(class_names)
    options = validate(RegionOptions, network["regions"], f"networks.{network_files.name}.regions")
    if all_stay:  # so no cheaper scores are needed first
        every = {"detections": options.maximum_proposals, "nms_threshold": 1.0, "scoring": options.features}
        options = options.model_copy(update=every)
    files, named = Photographs(sources, rows), zip(rows["source"], rows["file"], strict=True)
    cv2.setNumThreads(1)  # the threads here are the readers'
    with ThreadPoolExecutor(decoding_threads()) as pool:
        pixels = prefetch_results(pool, lambda one: files.pixels(*one), named, depth=2 * decoding_threads())
        if proposals is None:
            detector = load_detector(network_files, options)
            found, length = _detect_regions(detector, rows, pixels), detector.length
        else:
            proposed = proposals_of_images(read(proposals, PROPOSALS), rows, options.maximum_proposals, proposals)
            describing = _region_network(network_files.load(), options, classes)
            found, classes = _regions_and_classes(proposed, pixels, describing, options, classes, pool)
            length = describing.length
        with FeatureWriter(
            output,
            REGION_FEATURES.bind(images=sizes_by_image(rows)),
            (length,),
            network_files.dtype,
            **network_files.findings(),
        ) as writer:
            for some in chunks(progress(found, "regions of images", len(rows)), IMAGES_AT_ONCE):
                writer.append(_rows(some, classes), np.concatenate([image.described.vectors for image in some]))
    remove_old_shards(output)


class Detector(Protocol):
    """A network that finds boxes itself."""

    @property
    def length(self) -> int:
        """The length of a region's vector."""

    def detect(self, image: Pixels) -> tuple[Boxes, Described]:
        """The regions of an RGB image (H, W, 3), the whole image first."""


def load_detector(network: NetworkFiles, options: RegionOptions) -> Detector:
    """A network as a detector; its module is imported by name, so that only jobs that use it depend on it."""
    module = import_module(ARCHITECTURES[network.settings["architecture"]].implementation)
    found: Detector = module.detector(network.weights, options.detections, options.nms_threshold)
    return found


def _region_network(network: Network, options: RegionOptions, classes: Sequence[str]) -> RegionNetwork:
    if options.background is not None and options.background not in classes:
        raise InputError(f"networks: regions.background: {options.background!r} is none of the network's classes.")
    background = None if options.background is None else classes.index(options.background)
    return RegionNetwork(network, network.layer("regions"), options.map, options.score == "probability", background)


class Proposed(NamedTuple):
    """The proposals of an image: the whole image, then n others by rank."""

    image_id: str
    boxes: Boxes  # (1 + n, 4)
    scores: NDArray[np.float32]  # (n,)
    classes: NDArray[np.object_]  # (n,) names; empty if the proposer knows none


def proposals_of_images(proposals: pd.DataFrame, rows: pd.DataFrame, most: int, where: str) -> list[Proposed]:
    """The first `most` proposals of each image of `rows`, after the whole image itself.

    A proposal that equals the whole image is left out, as that is there already. Raises `InputError` for proposals of
    images that are not in `rows`, and for a box outside its image.
    """
    unknown = set(proposals["image_id"]) - set(rows["image_id"])
    if unknown:
        raise InputError(
            f"{where}: proposals of {len(unknown)} images that are not in this shard, such as {min(unknown)!r}. They "
            "are of another data set or division: delete the file and run snakemake again."
        )
    ranked = proposals.sort_values("rank", kind="stable").groupby("image_id", sort=False).head(most)
    found = {str(image_id): group for image_id, group in ranked.groupby("image_id", sort=False)}
    nothing = proposals.iloc[:0]
    images = zip(rows["image_id"], rows["width"], rows["height"], strict=True)
    return [_proposals_of_image(image, found.get(image[0], nothing), where) for image in images]


def _proposals_of_image(image: tuple[str, int, int], proposals: pd.DataFrame, where: str) -> Proposed:
    image_id, width, height = image
    whole = np.array([[0, 0, width, height]], np.float32)
    given = proposals[BOX].to_numpy(np.float32)
    inside = clip_boxes(given, width, height)
    if are_mostly_outside(given, np.array([width, height])).any():
        raise InputError(
            f"{where}: image {image_id}: a box outside its {width} x {height} pixels. The proposals are of other "
            "images: delete the file and run snakemake again."
        )
    others = (inside != whole).any(axis=1)
    kept = proposals[others]
    boxes = np.concatenate([whole, inside[others]])
    return Proposed(image_id, boxes, kept["score"].to_numpy(np.float32), kept["class_name"].to_numpy(object))


def _regions_and_classes(
    proposed: Sequence[Proposed],
    pixels: Iterable[Pixels],
    network: RegionNetwork,
    options: RegionOptions,
    classes: Sequence[str],
    pool: Executor,
) -> tuple[Iterator[Regions], Sequence[str]]:
    """The regions, and the names of their classes: the network's, or those of the user's detections."""
    names = sorted({name for image in proposed for name in image.classes} - {""})
    images = zip(proposed, pixels, strict=True)
    if not names and any(len(image.boxes) > 1 for image in proposed):  # without boxes there is nothing to choose
        _check_classes(network.network, classes)
        plain = (Candidates(image.image_id, shown, image.boxes) for image, shown in images)
        return choose_regions(plain, network, options, pool), classes
    detected = (
        Candidates(image.image_id, shown, image.boxes, Detected(image.scores, np.searchsorted(names, image.classes)))
        for image, shown in images
    )
    return choose_detected_regions(detected, network, options, pool), names


def _check_classes(network: Network, names: Sequence[str]) -> None:
    """Raises `InputError` if the network has no classes to choose regions by, or another number than are named."""
    if network.classes == 0:
        raise InputError(
            f"networks: {network.settings.architecture} has no classes to choose regions among proposals by; name a "
            "network with classes, or give your own detections (a proposer of kind detections)."
        )
    if network.classes not in (None, len(names)):
        raise InputError(
            f"networks: {network.settings.architecture} has {network.classes} classes, but its `classes` names "
            f"{len(names)}; name a file with one name in each line, in the order of its scores."
        )


def _detect_regions(detector: Detector, rows: pd.DataFrame, pixels: Iterable[Pixels]) -> Iterator[Regions]:
    """The regions that a detector with its own boxes finds, image by image."""
    for image_id, image in zip(rows["image_id"], pixels, strict=True):
        yield Regions(image_id, *detector.detect(image))


def _rows(images: Sequence[Regions], classes: Sequence[str] | None = None) -> pd.DataFrame:
    """The rows of some images' regions, which have no class names if there are no `classes`.

    They are one table, as each takes most of a millisecond, and to check its rules three.
    """
    boxes, scores, numbers = (
        np.concatenate(parts)
        for parts in zip(*((of.boxes, of.described.scores, of.described.classes) for of in images), strict=True)
    )
    counts = [len(of.boxes) for of in images]
    rank = np.concatenate([np.arange(count, dtype=np.int32) for count in counts])
    return pd.DataFrame(
        {
            "image_id": np.repeat(np.array([of.image_id for of in images], object), counts),
            "rank": rank,
            **dict(zip(BOX, boxes.T, strict=True)),
            "score": scores,
            "class_name": [
                classes[number] if classes and place else "" for place, number in zip(rank, numbers, strict=True)
            ],
        }
    )


# --- true boxes --------------------------------------------------------------------------------------------------


def extract_true_regions(
    image_table: str,
    boxes: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    weights: str,
    split: str,
    output: str,
    wildcards: Mapping[str, str],
    threads: int,
    precision: str | None = None,
) -> None:
    """The job that writes the whole image and the distinct phrase boxes of a split's images (REGION_FEATURES).

    They serve to rank annotated regions and phrases (HM-LSTM, section 5.2 and Table 4). Every box is described like a
    detection: by the same network, crops and context. `network`, `weights` and `precision` are as in `NetworkFiles`.
    Raises `InputError` if no phrase of the split has a box.
    """
    set_up(threads)
    network_files = NetworkFiles(wildcards["network"], network, weights, precision)
    table = read(image_table, IMAGES)
    table = table[(table["split"] == split) & (table["status"] == "ok")]
    found = boxes_by_image(phrase_boxes(read(boxes, BOXES)), table)
    if not found:
        raise InputError(f"{boxes}: no phrase of an image of the {split} split has a box.")
    options = validate(RegionOptions, network["regions"], f"networks.{network_files.name}.regions")
    most = max(map(len, found.values()))
    all_boxes = {"scoring": "crops", "features": "crops", "detections": most, "nms_threshold": 1.0}
    everything = options.model_copy(update=all_boxes)
    loaded = network_files.load()
    describing = RegionNetwork(loaded, loaded.layer("regions"), options.map)
    cv2.setNumThreads(1)  # the threads here are the readers'
    with ThreadPoolExecutor(decoding_threads()) as pool:
        files = Photographs(sources, table)
        candidates = _candidates(table[table["image_id"].isin(found)], found, files)
        chosen = list(progress(choose_regions(candidates, describing, everything, pool), "true regions", len(found)))
    shape = chosen[0].described.vectors.shape[1:]
    with FeatureWriter(output, REGION_FEATURES, shape, network_files.dtype, **network_files.findings()) as writer:
        for some in chunks(chosen, IMAGES_AT_ONCE):
            writer.append(_rows(some), np.concatenate([image.described.vectors for image in some]))


def boxes_by_image(phrases: pd.DataFrame, images: pd.DataFrame) -> dict[str, Boxes]:
    """The distinct phrase boxes (n, 4) of each image that has any, sorted."""
    phrases = phrases[phrases["image_id"].isin(images["image_id"])]
    return {
        str(image_id): np.unique(group[BOX].to_numpy(np.float32), axis=0)
        for image_id, group in phrases.groupby("image_id", sort=False)
    }


def _candidates(images: pd.DataFrame, boxes: Mapping[str, Boxes], files: Photographs) -> Iterator[Candidates]:
    for image_id, source, file in zip(images["image_id"], images["source"], images["file"], strict=True):
        pixels = files.pixels(source, file)
        whole = np.array([[0, 0, pixels.shape[1], pixels.shape[0]]], np.float32)
        yield Candidates(image_id, pixels, np.concatenate([whole, boxes[image_id]]))
