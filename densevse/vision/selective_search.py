"""Selective search (Uijlings et al., IJCV 2013), as OpenCV computes it: boxes that may hold an object."""

import ctypes
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.vision.boxes import unique

MODES = {
    "single": "switchToSingleStrategy",
    "fast": "switchToSelectiveSearchFast",
    "quality": "switchToSelectiveSearchQuality",
}


def selective_search(
    image: NDArray[np.uint8], mode: str, height: int | None, minimum_side: int, most: int, seed: int
) -> Boxes:
    """Propose at most `most` distinct boxes in an RGB image (H, W, 3), in OpenCV's order: (n, 4) x, y, width, height.

    With `height` the image is first resized to that many pixels; the boxes come back in pixels of the image given.
    Boxes with a side under `minimum_side` of those are left out. OpenCV shuffles the regions of each level by libc's
    `rand()`, so that is seeded: the same image, options and seed give the same boxes in the same order.
    """
    scale = 1.0 if height is None else image.shape[0] / height
    found = _regions(image, mode, scale, seed)
    begin = np.floor(found[:, :2] * scale)
    end = np.minimum(np.ceil((found[:, :2] + found[:, 2:]) * scale), image.shape[1::-1])
    boxes: Boxes = np.concatenate([begin, end - begin], axis=1).astype(np.float32)
    boxes = boxes[boxes[:, 2:].min(axis=1) >= minimum_side]
    return boxes[unique(boxes)[:most]]


def _regions(image: NDArray[np.uint8], mode: str, scale: float, seed: int) -> NDArray[np.float64]:
    height, width = (max(1, round(side / scale)) for side in image.shape[:2])
    bgr: NDArray[Any] = np.ascontiguousarray(image[:, :, ::-1])
    if scale != 1.0:
        shrunk = cv2.INTER_AREA if scale > 1 else cv2.INTER_LINEAR
        bgr = cv2.resize(bgr, (width, height), interpolation=shrunk)
    search: Any = cv2.ximgproc.segmentation.createSelectiveSearchSegmentation()
    search.setBaseImage(bgr)
    getattr(search, MODES[mode])()
    ctypes.CDLL(None).srand(seed)
    return np.asarray(search.process(), np.float64).reshape(-1, 4)
