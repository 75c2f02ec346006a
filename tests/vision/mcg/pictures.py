"""Contour maps for tests: of noise, so that there are many superpixels of every strength."""

import cv2
import numpy as np


def noise(height: int, width: int, seed: int = 0, grain: int = 3) -> np.ndarray:
    """A contour map whose hills are about `grain` pixels apart."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (-(-height // grain), -(-width // grain))).astype(np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)
