"""Measures how much of each kind of work one core of this machine does in a second, in less than a minute.

Times are those of the process's own work (user and system), so that other processes disturb them little.
"""

import io
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping

import cv2
import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional

from densevse.artifacts.images import decode
from densevse.command.costs.rates import ESTIMATES, NOT_MEASURED, Rates, today
from densevse.kernels.pairs import Grouped
from densevse.kernels.tanh_sums import tanh_sums
from densevse.runtime.numerics import fastest_precision, set_up_processor
from densevse.vision.crops import squeeze_image, warp
from densevse.vision.selective_search import selective_search

SECONDS = 1.5
"""The shortest time for which a work is repeated."""
_STARTING = "import densevse.training.retrieval, densevse.vision.extract"


def measure_rates() -> Rates:
    """The rates of this machine; those of `NOT_MEASURED` are estimates."""
    set_up_processor(1)
    cv2.setNumThreads(1)
    with torch.inference_mode():
        found = {"convolutions": _convolutions(), "products": _products(), "sums": _sums(), **_picture_rates()}
        faster = fastest_precision() == "bf16"  # as extraction decides it
        found["half_convolutions"] = _convolutions(torch.bfloat16) if faster else found["convolutions"]
        found["written"] = _written_numbers(found["convolutions"])
    found |= {"operators": _operators(found["products"]), "starts": _starts()}
    return Rates({**found, **{kind: ESTIMATES[kind] for kind in NOT_MEASURED}}, today())


def time_work(work: Callable[[], object]) -> float:
    """The mean seconds of the processor for one call, over the calls that fit into `SECONDS` after a first one."""
    work()
    begun, calls = time.process_time(), 0
    while (elapsed := time.process_time() - begun) < SECONDS:
        work()
        calls += 1
    return elapsed / calls


def _products() -> float:
    """Operations of matrix products, at the sizes of a recurrent network's step and of images' vectors."""
    sizes = ((128, 1324, 4096), (64, 256, 1024), (128, 4096, 1024))
    return float(np.mean([_product_rate(*size) for size in sizes]))


def _product_rate(rows: int, inputs: int, outputs: int) -> float:
    x, weight = torch.rand(rows, inputs), torch.rand(outputs, inputs)
    return 2 * rows * inputs * outputs / time_work(lambda: functional.linear(x, weight))


def _convolutions(dtype: torch.dtype = torch.float32) -> float:
    layer, flop = nn.Conv2d(128, 128, 3, padding=1, dtype=dtype), 2 * 4 * 128 * 128 * 9 * 56**2
    return flop / time_work(_bind_layer(layer, torch.rand(4, 128, 56, 56, dtype=dtype)))


def _written_numbers(convolutions: float) -> float:
    """Numbers written by a block of MobileNet v2, whose products are subtracted: memory bounds most of its time."""
    wide, narrow, places = 144, 24, 8 * 56**2
    layers = (
        *(nn.Conv2d(narrow, wide, 1), nn.ReLU6(inplace=True)),
        *(nn.Conv2d(wide, wide, 3, padding=1, groups=wide), nn.ReLU6(inplace=True)),
        nn.Conv2d(wide, narrow, 1),
    )
    spent = time_work(_bind_layer(nn.Sequential(*layers), torch.rand(8, narrow, 56, 56)))
    flop = 2 * places * (2 * narrow * wide + 9 * wide)
    return places * (4 * wide + narrow) / max(spent - flop / convolutions, 0.1 * spent)


def _bind_layer(layer: nn.Module, x: Tensor) -> Callable[[], Tensor]:
    shown = x.contiguous(memory_format=torch.channels_last)
    placed = layer.eval().to(memory_format=torch.channels_last)
    return lambda: placed(shown)


def _sums() -> float:
    """Terms of sm-LSTM's attention: 256 pairs of 16 images with 196 cells each."""
    keys, queries, weight = torch.rand(16, 196, 256), torch.rand(256, 256), torch.rand(256)
    pairs = Grouped.from_owners(torch.arange(16).repeat_interleave(16), keys.device)
    return 256 * 196 * 256 / time_work(lambda: tanh_sums(keys, queries, weight, pairs))


def _operators(products: float) -> float:
    """Operators of a small network's step, forwards and backwards: about four for each layer."""
    layers = nn.Sequential(*(nn.Linear(16, 16) for _ in range(100)))
    x = torch.rand(16, 16)
    spent = time_work(lambda: layers(x).sum().backward())
    return 4 * len(layers) / (spent - 6 * 16**3 * len(layers) / products)


def _picture_rates() -> Mapping[str, float]:
    """Decoding, cropping and selective search of a picture of a photograph's size."""
    picture = _picture()
    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=90)
    data, size = file.getvalue(), picture.shape[0] * picture.shape[1]
    box = np.array([100.0, 80.0, 220.0, 180.0], np.float32)
    return {
        "pixels": size / time_work(lambda: squeeze_image(decode(data, "picture"), 224)),
        "crops": 1 / time_work(lambda: warp(picture, box, 227, 16, (124, 117, 104))),
        "searched": size / time_work(lambda: selective_search(picture, "single", None, 10, 2000, 0)),
    }


def _picture() -> NDArray[np.uint8]:
    """A smooth random RGB picture (375, 500, 3) with as many regions as a photograph has."""
    coarse = np.random.default_rng(0).integers(0, 256, (30, 40, 3), np.uint8)
    return np.asarray(cv2.resize(coarse, (500, 375), interpolation=cv2.INTER_CUBIC), np.uint8)


def _starts() -> float:
    """Starts of a process with torch and this package, the mean of two."""
    begun = os.times()
    for _ in range(2):
        subprocess.run([sys.executable, "-c", _STARTING], check=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    ended = os.times()
    spent = ended.children_user + ended.children_system - begun.children_user - begun.children_system
    return 2 / spent
