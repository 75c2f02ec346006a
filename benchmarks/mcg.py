"""MCG and SCG without contours against OpenCV's selective search; the contour network against its convolutions.

Photographs are those of ../shared/data/bsds500 if it exists, else synthetic pictures. Contours are HED's if its weights
have been obtained (resources/hed/hed.safetensors), else plain gradients. The notes state both. The forest has the size
of the one that learns from the authors' sample.
"""

from itertools import islice
from pathlib import Path
from typing import NamedTuple

import cv2
import numpy as np
import torch
from torch import nn

from benchmarks._timing import times_as_fast
from densevse.analyses.boundaries.bsds import photographs
from densevse.artifacts.images import decode
from densevse.vision.mcg.contours import Contours, HEDContours, resize
from densevse.vision.mcg.forest import RegressionForest, grow_forest
from densevse.vision.mcg.hed import HED, load_hed
from densevse.vision.mcg.proposing import propose
from densevse.vision.processes import Timer

PHOTOGRAPHS = Path("../shared/data/bsds500")
WEIGHTS = Path("resources/hed/hed.safetensors")
SCALES = (2, 1, 0.5)
MCG = [[90, 500, 200, 900], [2000, 3000, 5000, 700], [300, 10000, 5000, 700], [300, 4000, 300, 200]]
SCG = [[700], [4000], [6000], [3000]]


class Sizes(NamedTuple):
    """Sizes of the pictures, of the forest's sample, and of the proposals."""

    height: int
    width: int
    pictures: int
    sample: int
    superpixels: int
    boxes: int
    pairs: int


FULL = Sizes(321, 481, pictures=2, sample=43_920, superpixels=4096, boxes=5000, pairs=2)
TOY = Sizes(24, 32, pictures=1, sample=40, superpixels=16, boxes=10, pairs=1)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note."""
    cv2.setNumThreads(1)
    pictures = _pictures(sizes)
    network = load_hed(WEIGHTS) if WEIGHTS.is_file() else HED().eval().requires_grad_(False)
    detector = HEDContours(network, half_precision=False)
    maps = [_contours(detector, picture) for picture in pictures]
    forest = _forest(sizes.sample)
    kind = "photographs" if PHOTOGRAPHS.is_dir() else "made pictures"
    note = f"{len(pictures)} {kind} of {sizes.width} x {sizes.height}, "
    note += "contours of HED" if WEIGHTS.is_file() else "gradients as contours, as HED's weights are not there"
    return [
        _against_search("MCG", "at most 1.5", pictures, maps, MCG, forest, sizes, note),
        _against_search("SCG", "at most 0.5", pictures, [three[1:2] for three in maps], SCG, forest, sizes, note),
        _network(detector, pictures[0], sizes.pairs),
    ]


def _against_search(
    name: str,
    target: str,
    pictures: list[np.ndarray],
    maps: list[list[np.ndarray]],
    counts: list[list[int]],
    forest: RegressionForest,
    sizes: Sizes,
    note: str,
) -> tuple[str, str, float, str]:
    timer = Timer()

    def work() -> None:
        for contours in maps:
            propose(contours, counts, forest, sizes.superpixels, sizes.boxes, timer)

    def search() -> None:
        for picture in pictures:
            method = cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
            method.setBaseImage(picture)
            method.switchToSelectiveSearchQuality()
            method.process()

    work()  # compiles
    timer.seconds.clear()
    ratio = 1 / times_as_fast(work, search, sizes.pairs)
    steps = ", ".join(f"{step} {value / len(maps) / (sizes.pairs + 1):.2f} s" for step, value in timer.seconds.items())
    return f"{name} without contours / OpenCV's selective search (quality)", target, ratio, f"{note}; {steps}"


def _network(detector: HEDContours, picture: np.ndarray, pairs: int) -> tuple[str, str, float, str]:
    operands: list[tuple[nn.Module, torch.Tensor]] = []
    layers = [module for module in detector.network.modules() if isinstance(module, nn.Conv2d)]
    hooks = [
        layer.register_forward_pre_hook(lambda layer, x: operands.append((layer, x[0].clone()))) for layer in layers
    ]
    detector.find_maps(picture, [1], picture.size)
    for hook in hooks:
        hook.remove()

    def bare() -> None:
        with torch.inference_mode():
            for layer, inputs in operands:
                layer(inputs)

    ratio = 1 / times_as_fast(lambda: detector.find_maps(picture, [1], picture.size), bare, pairs)
    return (
        "contours at one scale / the bare convolutions",
        "at most 1.3",
        ratio,
        f"{picture.shape[1]} x {picture.shape[0]}, fp32",
    )


def _pictures(sizes: Sizes) -> list[np.ndarray]:
    if not PHOTOGRAPHS.is_dir():
        random = np.random.default_rng(0)
        coarse = random.integers(0, 256, (sizes.pictures, 20, 30, 3), dtype=np.uint8)
        return [cv2.resize(one, (sizes.width, sizes.height), interpolation=cv2.INTER_CUBIC) for one in coarse]
    files = [PHOTOGRAPHS / "images" / name for name in photographs(PHOTOGRAPHS)["file"]]
    found = (decode(file.read_bytes(), str(file)) for file in files)
    large = (picture for picture in found if picture.shape[0] >= sizes.height and picture.shape[1] >= sizes.width)
    return [picture[: sizes.height, : sizes.width].copy() for picture in islice(large, sizes.pictures)]


def _contours(detector: Contours, picture: np.ndarray) -> list[np.ndarray]:
    """Contour maps at three scales."""
    if WEIGHTS.is_file():
        return list(detector.find_maps(picture, SCALES, picture.size))
    height, width = picture.shape[:2]
    found = []
    for scale in SCALES:
        grey = cv2.cvtColor(resize(picture, round(height * scale), round(width * scale)), cv2.COLOR_RGB2GRAY)
        steep = np.hypot(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
        found.append(resize(np.clip(steep, 0, 255).astype(np.uint8), height, width))
    return found


def _forest(sample: int) -> RegressionForest:
    random = np.random.default_rng(0)
    return grow_forest(
        random.random((sample, 16), np.float32), random.random(sample, np.float32), trees=50, leaf=5, seed=0
    )
