"""Features of true boxes, to rank annotated regions and phrases (HM-LSTM, section 5.2 and Table 4)."""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cv2
import numpy as np
import pandas as pd

from densevse.artifacts.boxes import BOX, Boxes
from densevse.artifacts.images import ImageFiles
from densevse.artifacts.phrase_boxes import phrase_boxes
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.artifacts.schemas.features import REGION_FEATURES
from densevse.artifacts.store import FeatureWriter
from densevse.config.networks import RegionOptions
from densevse.config.strict import validate
from densevse.runtime.errors import InputError
from densevse.runtime.logs import progress
from densevse.runtime.numerics import set_up
from densevse.vision.extract import DTYPE, decoding_threads
from densevse.vision.network_files import NetworkFiles
from densevse.vision.region_network import RegionNetwork
from densevse.vision.regions import Candidates, choose


def extract_true_regions(
    image_table: str,
    boxes: str,
    source_names: Sequence[str],
    sources: Sequence[str],
    network: Mapping[str, Any],
    weights: str,
    split: str,
    output: str,
    wildcards: Mapping[str, str],
    threads: int,
    precision: str | None = None,
) -> None:
    """The job that writes the whole image and the distinct phrase boxes of a split's images (REGION_FEATURES).

    Every box is described like a detection: by the same network, crops and context. `network`, `weights` and
    `precision` are as in `NetworkFiles`. Raises `InputError` if no phrase of the split has a box.
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
    made_from = network_files.made_from(image_table, {"boxes": boxes}, view="true regions")
    cv2.setNumThreads(1)  # the threads here are the readers'
    with ThreadPoolExecutor(decoding_threads()) as pool:
        files = ImageFiles(dict(zip(source_names, sources, strict=True)))
        candidates = _candidates(table[table["image_id"].isin(found)], found, files)
        chosen = list(progress(choose(candidates, describing, everything, pool), "true regions", len(found)))
    with FeatureWriter(output, REGION_FEATURES, chosen[0].described.vectors.shape[1:], DTYPE, made_from) as writer:
        for regions in chosen:
            rows = pd.DataFrame(regions.boxes, columns=BOX).assign(
                image_id=regions.image_id, score=regions.described.scores, class_name=""
            )
            writer.append(rows.assign(rank=np.arange(len(rows), dtype=np.int32)), regions.described.vectors)


def boxes_by_image(phrases: pd.DataFrame, images: pd.DataFrame) -> dict[str, Boxes]:
    """The distinct phrase boxes (n, 4) of each image that has any, sorted."""
    phrases = phrases[phrases["image_id"].isin(images["image_id"])]
    return {
        str(image_id): np.unique(group[BOX].to_numpy(np.float32), axis=0)
        for image_id, group in phrases.groupby("image_id", sort=False)
    }


def _candidates(images: pd.DataFrame, boxes: Mapping[str, Boxes], files: ImageFiles) -> Iterator[Candidates]:
    for image_id, source, file in zip(images["image_id"], images["source"], images["file"], strict=True):
        pixels = files.pixels(source, file)
        whole = np.array([[0, 0, pixels.shape[1], pixels.shape[0]]], np.float32)
        yield Candidates(image_id, pixels, np.concatenate([whole, boxes[image_id]]))
