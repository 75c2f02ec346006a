"""The ridges of a contour map: detected contours are several pixels wide, and the boundary is their middle."""

import cv2
import numpy as np
from numpy.typing import NDArray

Map = NDArray[np.float64]

DIRECTION = 2.0
"""The smoothing of a map, in pixels, before the direction of its contours is measured."""


def suppressed(contours: Map) -> Map:
    """A contour map (H, W) with only the maxima across contours; all other pixels are 0.

    The direction of a contour is where the smoothed map has the least curvature.
    """
    smooth = smoothed(contours, DIRECTION)
    along_x, along_y = cv2.Sobel(smooth, cv2.CV_64F, 2, 0), cv2.Sobel(smooth, cv2.CV_64F, 0, 2)
    mixed = cv2.Sobel(smooth, cv2.CV_64F, 1, 1)
    # The direction across is the eigenvector of the Hessian with the smallest eigenvalue: the steepest fall.
    across = 0.5 * np.arctan2(2 * mixed, along_x - along_y) + np.pi / 2
    rows, columns = np.mgrid[: contours.shape[0], : contours.shape[1]].astype(np.float32)
    stays = np.ones(contours.shape, bool)
    for step in (-1, 1):
        x, y = columns + step * np.cos(across), rows + step * np.sin(across)
        beside = cv2.remap(contours, x.astype(np.float32), y.astype(np.float32), cv2.INTER_LINEAR)
        stays &= contours >= beside
    return np.where(stays, contours, 0.0)


def widened(ridges: Map) -> Map:
    """Each pixel's maximum over itself and its eight neighbours."""
    return np.asarray(cv2.dilate(ridges, np.ones((3, 3), np.uint8)), np.float64)


def smoothed(contours: Map, pixels: float) -> Map:
    """A map (H, W) smoothed by a Gaussian of this standard deviation."""
    return np.asarray(cv2.GaussianBlur(contours, (0, 0), pixels), np.float64)
