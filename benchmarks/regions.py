"""Regions: shared convolution against crops, also for SCO's concepts, the stage against its bare network, processes."""

import io
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import pandas as pd
import torch
from PIL import Image
from safetensors.torch import save_file
from torchvision.models import get_model

from benchmarks._timing import times_as_fast
from densevse.artifacts.boxes import BOX
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.config.networks import NetworkSettings, RegionOptions
from densevse.config.registries import ARCHITECTURES
from densevse.vision.crops import warp
from densevse.vision.extract_regions import extract_regions
from densevse.vision.networks import Network, load_network
from densevse.vision.proposals import propose
from densevse.vision.regions import Candidates, RegionNetwork, choose_regions
from snakeproof.schema import write

REGIONS, CROP, BATCH = 20, 224, 64
OPTIONS = {"scoring": "crops", "maximum_proposals": REGIONS - 1, "area_exponent": 1}
SETTINGS = {
    "architecture": "mobilenet_v2",
    "layers": {"regions": "pooled"},
    "nodes": {"conv": "features", "pooled": "features"},
    "batch_size": BATCH,
    "regions": OPTIONS,
}


class Sizes(NamedTuple):
    """Pixels of a side, pictures that are described, those that selective search looks at, and boxes of one picture."""

    side: int
    pictures: int
    searched: int
    boxes: int
    clustered: int  # boxes of a picture that SCO's concept network scores, in pictures of twice the side
    pairs: int


FULL = Sizes(side=224, pictures=16, searched=8, boxes=100, clustered=49, pairs=2)
TOY = Sizes(side=48, pictures=1, searched=1, boxes=2, clustered=2, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        images, pictures = _data_set(folder, sizes.pictures, sizes.side)
        save_file(get_model("mobilenet_v2", weights=None).state_dict(), folder / "weights.safetensors")
        network = RegionNetwork(load_network(SETTINGS, folder / "weights.safetensors"), "pooled", "conv")
        return [
            _shared(network, pictures[0], sizes),
            _stage(network, folder, sizes),
            _processes(folder, images, sizes),
            _concepts(sizes),
        ]


def _shared(network: RegionNetwork, picture: np.ndarray, sizes: Sizes) -> tuple[str, str, float, str]:
    boxes = _boxes(sizes.boxes, sizes.side)
    crops = torch.from_numpy(np.stack([warp(picture, box, sizes.side, 16, (124, 116, 104)) for box in boxes]))
    ratio = times_as_fast(
        lambda: network.describe_boxes(picture, boxes, cells=1),
        lambda: [network.describe_crops(part) for part in crops.chunk(2)],
        sizes.pairs,
    )
    return (
        f"{sizes.boxes} boxes of an image: crops / shared convolution",
        ">= 12",
        ratio,
        f"MobileNetV2, {sizes.side} pixels",
    )


def _concepts(sizes: Sizes) -> tuple[str, str, float, str]:
    """Clustered boxes of a photograph by VGG19's crops, as SCO's paper, and on one map (flickr30k_cheaper.yaml)."""
    nodes = ARCHITECTURES["vgg19"].layers
    settings = NetworkSettings(
        architecture="vgg19", layers={"regions": "fc7"}, nodes=nodes, batch_size=1 + sizes.clustered
    )
    network = RegionNetwork(Network(settings, get_model("vgg19", weights=None).eval()), "fc7", "conv5_4")
    shown = np.random.default_rng(0).integers(0, 256, (sizes.side * 2, sizes.side * 2, 3), np.uint8)
    whole = np.array([[0, 0, *shown.shape[1::-1]]], np.float32)
    image = Candidates("a", shown, np.concatenate([whole, _boxes(sizes.clustered, 2 * sizes.side)]))
    by_crops = RegionOptions(detections=sizes.clustered, nms_threshold=1)
    read = {"scoring": "roi_align", "features": "roi_align", "map": "conv5_4", "map_size": 448, "cells": 14}
    by_map = by_crops.model_copy(update=read)
    with ThreadPoolExecutor(1) as pool:
        ratio = times_as_fast(
            lambda: list(choose_regions([image], network, by_map, pool)),
            lambda: list(choose_regions([image], network, by_crops, pool)),
            sizes.pairs,
        )
    what = f"concepts of {1 + sizes.clustered} regions: crops / one map"
    return what, ">= 6", ratio, f"VGG19 of random weights, {2 * sizes.side} pixels, map of 448"


def _stage(network: RegionNetwork, folder: Path, sizes: Sizes) -> tuple[str, str, float, str]:
    batch = torch.randint(0, 256, (BATCH, 3, CROP, CROP), dtype=torch.uint8)
    batches = -(-sizes.pictures * REGIONS // BATCH)
    weights = folder / "weights.safetensors"
    precision = "bf16" if network.network.dtype == torch.bfloat16 else "fp32"

    def stage() -> None:
        extract_regions(
            str(folder / "images.parquet"),
            {"images": str(folder / "images.zip")},
            SETTINGS | {"precision": precision},
            str(weights),
            all_stay=False,
            output=str(folder / "r/00-of-01.parquet"),
            wildcards={"network": "mobilenet_v2", "shard": "00-of-01"},
            threads=torch.get_num_threads(),
            proposals=str(folder / "proposals.parquet"),
        )

    def bare() -> None:
        load_network(SETTINGS, weights)
        for _ in range(batches):
            network.network.outputs(batch, ["pooled", "classes"])

    note = f"{sizes.pictures} images of {REGIONS} crops; reading, decoding, cropping, writing beside the network"
    return "regions by crops / its bare network", "<= 1.25", 1 / times_as_fast(stage, bare, sizes.pairs), note


def _processes(folder: Path, images: pd.DataFrame, sizes: Sizes) -> tuple[str, str, float, str]:
    sources, proposer = {"images": str(folder / "images.zip")}, {"kind": "selective_search", "options": {}}
    some = slice(sizes.searched)
    ratio = times_as_fast(
        lambda: propose(images, some, sources, proposer, 2),
        lambda: propose(images, some, sources, proposer, 1),
        sizes.pairs,
    )
    return (
        "selective search: one process / two",
        ">= 1.5",
        ratio,
        f"{sizes.searched} images, starting the processes included",
    )


def _boxes(number: int, side: int) -> np.ndarray:
    random = np.random.default_rng(0)
    begin = random.integers(0, side - 40, (number, 2))
    return np.concatenate([begin, random.integers(20, 40, (number, 2))], axis=1).astype(np.float32)


def _data_set(folder: Path, count: int, side: int) -> tuple[pd.DataFrame, list[np.ndarray]]:
    """Pictures of coarse noise, in which selective search finds many boxes."""
    random = np.random.default_rng(0)
    coarse = random.integers(0, 256, (count, 12, 12, 3), dtype=np.uint8)
    pictures = [cv2.resize(one, (side, side), interpolation=cv2.INTER_CUBIC) for one in coarse]
    with zipfile.ZipFile(folder / "images.zip", "w") as archive:
        for number, picture in enumerate(pictures):
            data = io.BytesIO()
            Image.fromarray(picture).save(data, "JPEG")
            archive.writestr(f"{number}.jpg", data.getvalue())
    facts = {
        "source": "images",
        "split": "train",
        "width": side,
        "height": side,
        "sha256": "",
        "family": "",
        "captions": 0,
    }
    images = [{"image_id": str(n), "file": f"{n}.jpg", "status": "ok", **facts} for n in range(count)]
    table = pd.DataFrame(images)
    write(table, IMAGES, folder / "images.parquet")
    boxes = pd.DataFrame(np.tile(_boxes(REGIONS - 1, side), (count, 1)), columns=BOX)
    boxes["image_id"], boxes["score"] = np.repeat(table["image_id"], REGIONS - 1).to_numpy(), 0.5
    boxes["rank"], boxes["class_name"] = np.tile(np.arange(REGIONS - 1), count), ""
    write(boxes, PROPOSALS, folder / "proposals.parquet")
    return table, pictures
