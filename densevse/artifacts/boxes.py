"""Boxes as arrays (..., 4) of x, y, width, height in pixels: the names of their columns, and overlaps."""

import math
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.columns import BOX_COLUMNS
from densevse.artifacts.file_names import compose_accents, refuse_alike
from snakeproof.errors import InputError
from snakeproof.logs import logger

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


Problems: TypeAlias = dict[str, NDArray[np.bool_]]
"""Problem in words -> the rows that have it, as rules of artifacts return them."""


def find_form_problems(rows: pd.DataFrame, images: pd.DataFrame | None) -> Problems:
    """The boxes with it, if all fit their images better in another form than x, y, width, height. A rule of artifacts.

    `images` are as in `image_sizes`. Of boxes in the form of pixels as many fit as in any other. Shares of the sides
    are between 0 and 1, as all numbers of an image's boxes, and fit there in one of the forms.
    """
    boxes, sizes = rows[BOX].to_numpy(np.float64), image_sizes(rows, images)
    if images is None:
        return {}
    image, first, second = pd.factorize(rows["image_id"])[0], boxes[:, :2], boxes[:, 2:]
    within = ((boxes >= 0) & (boxes <= 1)).all(axis=1) & ((first + second / 2 <= 1) | (second > first)).all(axis=1)
    shares = np.bincount(image, ~within)[image] == 0
    if shares.any():
        return {SHARES: shares}
    forms = {
        "x, y, width, height": (first, first + second),
        "corners (x0, y0, x1, y1); write x0, y0, x1 - x0, y1 - y0": (first, second),
        "centres (x, y, width, height); write x - width / 2, y - height / 2, width, height": (
            first - second / 2,
            first + second / 2,
        ),
    }
    fit = {form: _find_fitting(begin, end, sizes) for form, (begin, end) in forms.items()}
    most = max(fit, key=lambda form: fit[form].sum())  # the first of equal ones
    own = fit[next(iter(forms))]
    if most == next(iter(forms)):
        return {}
    problem = (
        f"as x, y, width, height only {own.sum():,} of {len(boxes):,} boxes lie in their images, and "
        f"{fit[most].sum():,} do as {most}. If the form is right, cut the boxes at the images' edges"
    )
    return {problem: ~own & fit[most]}


SHARES = (
    "all numbers of the boxes lie between 0 and 1, as shares of the image's sides do; multiply them by the width and "
    "height in pixels"
)


def _find_fitting(begin: NDArray[Any], end: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.bool_]:
    """The boxes with an area that leave their image by one pixel at most, as files count pixels differently."""
    fitting: NDArray[np.bool_] = np.all((begin >= -1) & (end <= sizes + 1) & (begin < end), axis=1)
    return fitting


def find_outside(rows: pd.DataFrame, images: pd.DataFrame) -> Problems:
    """The true boxes without area, or that leave their image by more than a pixel. A rule of artifacts."""
    boxes, sizes = rows[BOX].to_numpy(np.float64), image_sizes(rows, images)
    end = np.where(np.isnan(sizes), np.finfo(np.float32).max, sizes + 1)
    inside = (boxes[:, :2] >= -1) & (boxes[:, :2] + boxes[:, 2:] <= end) & (boxes[:, 2:] > 0)
    return {"its box has no area or leaves the image": ~inside.all(axis=1)}


def are_mostly_outside(boxes: NDArray[Any], sizes: NDArray[Any]) -> NDArray[np.bool_]:
    """(n,) which boxes (n, 4) have less than half of their area in images of these `sizes` (n, 2), or none at all."""
    begin, end = np.clip(boxes[:, :2], 0, sizes), np.clip(boxes[:, :2] + boxes[:, 2:], 0, sizes)
    inside = end - begin
    outside: NDArray[np.bool_] = (inside <= 0).any(axis=1)
    outside |= 2 * inside.prod(axis=1) < np.abs(boxes[:, 2:]).prod(axis=1)
    return outside


def find_repeated(rows: pd.DataFrame) -> Problems:
    """The boxes that a phrase has twice. Two objects may have one box. A rule of artifacts."""
    repeated = rows.duplicated(["caption_id", "start", "end", *BOX]) & (rows["caption_id"] != "")
    return {"its phrase has this box twice; keep one": repeated.to_numpy()}


def drop_unknown_images(rows: pd.DataFrame, images: pd.DataFrame, where: str) -> pd.DataFrame:
    """The rows with boxes of images of a data set; those of others are counted in a warning.

    Raises `InputError` if all are of others, or if others are written almost as images without a box.
    """
    ids = [name for name in ("image_id", "caption_id") if name in rows]  # which files may encode in two ways
    rows = rows.assign(**{name: rows[name].map(compose_accents, na_action="ignore") for name in ids})
    known = pd.Index(images["image_id"]).get_indexer(pd.Index(rows["image_id"])) >= 0
    if known.all():
        return rows
    others = rows.loc[~known, "image_id"]
    of_others = f"{len(others):,} boxes are of {others.nunique():,} images that the data set does not have"
    without = images.loc[~images["image_id"].isin(rows["image_id"]), "image_id"]
    refuse_alike(without, others, f"{where}: images without a box, and images of boxes")
    if not known.any():
        raise InputError(
            f"{where}: all {of_others}, the first of {others.iloc[0]!r}. Is it a file of another data set? Its image "
            f"ids are like {images['image_id'].iloc[0]!r}."
        )
    logger.warning("%s: %s, such as %r; left out", where, of_others, others.iloc[0])
    kept: pd.DataFrame = rows[known].reset_index(drop=True)
    return kept


def image_sizes(rows: pd.DataFrame, images: pd.DataFrame | None) -> NDArray[np.float64]:
    """The width and height (n, 2) of each row's image; NaN of an image that cannot be read, or has no picture.

    `images` are IMAGES rows, or `sizes_by_image` of them, or None where no sizes are known.
    """
    if images is None:
        return np.full((len(rows), 2), np.nan)
    sizes = sizes_by_image(images) if "image_id" in images else images
    return sizes.reindex(rows["image_id"]).to_numpy(np.float64)


def sizes_by_image(images: pd.DataFrame) -> pd.DataFrame:
    """The width and height of each of IMAGES, by its id; NaN where they are not known."""
    sizes = images.set_index("image_id")[["width", "height"]].astype(np.float64)
    return sizes.where((images["status"] == "ok").to_numpy()[:, None] & (sizes > 0))


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
