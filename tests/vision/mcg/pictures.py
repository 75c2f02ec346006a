"""Contour maps for tests: of noise, with many superpixels of every strength; and a detector of contours."""

import cv2
import numpy as np

from densevse.vision.mcg.candidates import unpack_bits


def noise(height: int, width: int, seed: int = 0, grain: int = 3) -> np.ndarray:
    """A contour map whose hills are about `grain` pixels apart."""
    random = np.random.default_rng(seed)
    coarse = random.integers(0, 256, (-(-height // grain), -(-width // grain))).astype(np.uint8)
    return cv2.resize(coarse, (width, height), interpolation=cv2.INTER_CUBIC)


def structured_edges(path):
    """A model of structured edges with one tree: a patch whose colours change at its centre has an upright edge."""
    patch, inner, shrink, orientations = 32, 16, 2, 4
    cells, colours = (patch // shrink) ** 2, 3  # the gradient's magnitude is the channel after the colours
    centre = colours * cells + cells // 2 + patch // shrink // 2
    options = {
        "stride": 2, "shrinkNumber": shrink, "patchSize": patch, "patchInnerSize": inner,
        "numberOfGradientOrientations": orientations, "gradientSmoothingRadius": 0, "regFeatureSmoothingRadius": 0,
        "ssFeatureSmoothingRadius": 0, "gradientNormalizationRadius": 0, "selfsimilarityGridSize": 5,
        "numberOfTrees": 1, "numberOfTreesToEvaluate": 1,
    }  # fmt: skip
    trees = {
        "childs": [2, 0, 0],
        "featureIds": [centre, 0, 0],
        "thresholds": [0.05, 0.0, 0.0],
        "edgeBoundaries": [0, 0, 0, 2 * inner],
        "edgeBins": [column * inner + row for column in (7, 8) for row in range(inner)],
    }
    lines = ["%YAML:1.0", "---", "options:", *(f"   {name}: {value}" for name, value in options.items())]
    path.write_text("\n".join([*lines, *(f"{name}:\n   - {values}" for name, values in trees.items())]) + "\n")
    return path


def masks(chosen, superpixels):
    """(C, H, W) bool: the pixels of candidates."""
    return unpack_bits(chosen.bits, len(superpixels))[:, superpixels.labels]
