"""Boxes as arrays (..., 4) of x, y, width, height in pixels: the names of their columns, and overlaps."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.columns import BOX_COLUMNS
from snakeproof.errors import InputError

Boxes = NDArray[np.float32]

BOX = [column.name for column in BOX_COLUMNS]


def intersection_over_union(boxes: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """The intersection of two boxes divided by their union, between 0 and 1.

    Takes (..., 4) and (..., 4), broadcast, and returns (...): (n, 4) and (n, 4) compare the boxes of each row, (n,);
    (n, 1, 4) and (1, m, 4) compare every box with every other, (n, m). Two boxes without area do not overlap.
    """
    begin = np.maximum(boxes[..., :2], others[..., :2])
    end = np.minimum(boxes[..., :2] + boxes[..., 2:], others[..., :2] + others[..., 2:])
    shared = np.clip(end - begin, 0, None).prod(axis=-1)
    union = boxes[..., 2:].prod(axis=-1) + others[..., 2:].prod(axis=-1) - shared
    ratio: NDArray[Any] = np.divide(shared, union, out=np.zeros_like(shared), where=union > 0)
    return ratio


def check_form(boxes: NDArray[Any], sizes: NDArray[Any], where: str) -> None:
    """Raises `InputError` if boxes (n, 4) fit their images better in another form than x, y, width, height in pixels.

    `sizes` (n, 2) are the images' widths and heights. Of boxes in this form as many fit as in any other.
    """
    check_no_shares(boxes, where)
    first, second = boxes[:, :2], boxes[:, 2:]
    forms = {
        "x, y, width, height": (first, first + second),
        "corners (x0, y0, x1, y1); write x0, y0, x1 - x0, y1 - y0": (first, second),
        "centres (x, y, width, height); write x - width / 2, y - height / 2, width, height": (
            first - second / 2,
            first + second / 2,
        ),
    }
    fit = {form: _count_fitting(begin, end, sizes) for form, (begin, end) in forms.items()}
    most = max(fit, key=lambda form: fit[form])  # the first of equal ones
    if most != next(iter(forms)):
        raise InputError(
            f"{where}: as x, y, width, height only {next(iter(fit.values())):,} of {len(boxes):,} boxes lie in their "
            f"images, and {fit[most]:,} do as {most}. If the form is right, cut the boxes at the images' edges."
        )


def check_no_shares(boxes: NDArray[Any], where: str) -> None:
    """Raises `InputError` if all numbers of boxes (n, 4) lie between 0 and 1: these are shares of the sides."""
    if len(boxes) and ((boxes >= 0) & (boxes <= 1)).all():
        raise InputError(
            f"{where}: all numbers of the boxes lie between 0 and 1, as shares of the image's sides do; multiply them "
            "by the width and height in pixels."
        )


def _count_fitting(begin: NDArray[Any], end: NDArray[Any], sizes: NDArray[Any]) -> int:
    """The boxes with an area that leave their image by one pixel at most, as files count pixels differently."""
    return int(((begin >= -1) & (end <= sizes + 1) & (begin < end)).all(axis=1).sum())


def grid_cells(width: int, height: int, cells: int) -> NDArray[np.float64]:
    """The boxes (cells, 4), row by row, of a grid of cells over an image of `width` x `height` pixels.

    Raises `ValueError` if the number of cells is not a square.
    """
    lines = math.isqrt(cells)
    if lines * lines != cells:
        raise ValueError(f"{cells} cells are not a square grid")
    row, column = np.divmod(np.arange(cells), lines)
    sides = np.full((2, cells), [[width / lines], [height / lines]])
    return np.stack((column * sides[0], row * sides[1], *sides), axis=1)


def is_in_boxes(x: float, y: float, boxes: NDArray[Any]) -> bool:
    """True if a point lies in any of some boxes (boxes, 4), edges included."""
    begin, end = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
    return bool(((begin <= (x, y)) & ((x, y) <= end)).all(axis=1).any())


def covered_shares(cells: NDArray[np.float64], boxes: NDArray[np.float64]) -> NDArray[np.float64]:
    """(cells,) share of each cell (cells, 4) that boxes (boxes, 4) cover, each point counted once.

    Exact: the edges of the boxes cut the plane into rectangles, each of which lies in a box or does not.
    """
    x, y = (np.unique(np.concatenate((boxes[:, axis], boxes[:, axis] + boxes[:, axis + 2]))) for axis in (0, 1))
    middle_x, middle_y = (x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2
    begin, end = boxes[:, :2], boxes[:, :2] + boxes[:, 2:]
    in_x = (middle_x >= begin[:, :1]) & (middle_x <= end[:, :1])
    in_y = (middle_y >= begin[:, 1:]) & (middle_y <= end[:, 1:])
    inside = (in_y.T.astype(float) @ in_x.astype(float)) > 0
    shared_x, shared_y = (
        np.clip(
            np.minimum(cells[:, axis, None] + cells[:, axis + 2, None], edges[1:])
            - np.maximum(cells[:, axis, None], edges[:-1]),
            0,
            None,
        )
        for axis, edges in ((0, x), (1, y))
    )
    areas = np.einsum("cy,yx,cx->c", shared_y, inside.astype(float), shared_x)
    shares: NDArray[np.float64] = areas / cells[:, 2:].prod(axis=1)
    return shares
