"""Compares contour maps with people's boundaries, matched as BSDS does (Martin, Fowlkes and Malik, PAMI 2004).

A map is cut at many thresholds, thinned to lines of one pixel, and matched one to one with each person's boundary
pixels. A pixel of the map is right if it matches any person. The benchmark looks for the cheapest of the largest
matchings in a randomly thinned graph; here any largest matching is taken.
"""

from collections.abc import Sequence

import cv2
import numpy as np
import pandas as pd
from numba import njit
from numpy.typing import NDArray
from scipy.spatial import KDTree

from densevse.analyses.boundaries.bsds import boundaries, contours_of_authors
from densevse.analyses.boundaries.schemas import BOUNDARY_MATCHES, TOLERANCE
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schema import read, write
from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.vision.mcg.hierarchy import Hierarchies, hierarchies
from densevse.vision.mcg.ridges import suppressed
from densevse.vision.mcg.shards import decoded
from densevse.vision.processes import in_processes

Map = NDArray[np.float64]
Lines = NDArray[np.bool_]

THRESHOLDS = tuple(np.round(np.arange(0.04, 1, 0.05), 2).tolist())


def write_matches(folder: str, contours: str, superpixels: int, threads: int, output: str) -> None:
    """The job that writes the BOUNDARY_MATCHES of the photographs in a folder of BSDS's layout with CONTOURS.

    The maps are those of the contour network at each scale, reduced to maxima across contours; that of the hierarchy of
    all scales, with a largest number of superpixels; and that of the data set's authors, if the folder has it.
    """
    groups = read(contours, CONTOURS).groupby("image_id", sort=False)
    tasks = [(folder, str(name), list(group["scale"]), list(group["picture"]), superpixels) for name, group in groups]
    found = pd.concat(in_processes(_of_image, tasks, threads, "boundaries"), ignore_index=True)
    write(found, BOUNDARY_MATCHES, output, lineage({"superpixels": superpixels}, {"contours": contours}))


def _of_image(task: tuple[str, str, list[float], list[bytes], int]) -> pd.DataFrame:
    folder, name, scales, pictures, superpixels = task
    people = boundaries(folder, name)
    contours = [decoded(picture) for picture in pictures]
    maps = {f"contours, scale {scale:g}": suppressed(one / 255) for scale, one in zip(scales, contours, strict=True)}
    maps["hierarchy"] = ultrametric(hierarchies(contours, superpixels))
    of_authors = contours_of_authors(folder, name)
    if of_authors is not None:
        maps["gPb-UCM of the data set's authors"] = of_authors
    return pd.concat([matches(name, title, one, people) for title, one in maps.items()], ignore_index=True)


def matches(image_id: str, name: str, contours: Map, people: Sequence[Lines]) -> pd.DataFrame:
    """The rows of BOUNDARY_MATCHES of one image for a contour map (H, W) of 0 to 1, called `name`."""
    rows = []
    for threshold in THRESHOLDS:
        lines = thinned(contours >= threshold)
        right, found, true = np.zeros(lines.sum(), bool), 0, 0
        for person in people:
            of_lines, of_person = matched(lines, person)
            right |= of_lines
            found, true = found + of_person.sum(), true + len(of_person)
        rows.append((image_id, name, threshold, right.sum(), len(right), found, true))
    frame = pd.DataFrame(rows, columns=[column.name for column in BOUNDARY_MATCHES.columns])
    return frame.astype({"threshold": "float32"} | dict.fromkeys(["right", "drawn", "found", "true"], "int32"))


def matched(lines: Lines, person: Lines) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Marks the pixels of two drawings (H, W) that are matched with each other, in the order of `np.argwhere`."""
    first, second = np.argwhere(lines), np.argwhere(person)
    right, found = np.zeros(len(first), bool), np.zeros(len(second), bool)
    if len(first) and len(second):
        radius = TOLERANCE * float(np.hypot(*lines.shape))
        near = KDTree(first).sparse_distance_matrix(KDTree(second), radius, output_type="coo_matrix")
        order = np.lexsort((near.data, near.row))
        starts = np.searchsorted(near.row[order], np.arange(len(first) + 1))
        partner = _partners(starts, near.col[order], len(second))
        right = partner >= 0
        found[partner[right]] = True
    return right, found


@njit(cache=True)
def _partners(starts, others, number):
    """A largest matching: each pixel's partner among `number` others, or -1; those near `p` begin at `starts[p]`.

    Each pixel takes the nearest free one. Then each pixel left over looks for a chain of exchanges that ends at a free
    one.
    """
    partner, taken_by = _nearest(starts, others, number)
    seen, reached_from, waiting = np.full(number, -1), np.empty(number, np.int64), np.empty(len(partner), np.int64)
    for pixel in range(len(partner)):
        if partner[pixel] >= 0:
            continue
        waiting[0], size, done, free = pixel, 1, 0, -1
        while done < size and free < 0:
            here = waiting[done]
            done += 1
            for other in others[starts[here] : starts[here + 1]]:
                if seen[other] == pixel:
                    continue
                seen[other], reached_from[other] = pixel, here
                if taken_by[other] < 0:
                    free = other
                    break
                waiting[size] = taken_by[other]
                size += 1
        while free >= 0:
            here = reached_from[free]
            taken_by[free], free, partner[here] = here, partner[here], free
    return partner


@njit(cache=True)
def _nearest(starts, others, number):
    """A greedy matching: each pixel takes the nearest free one; the partners of both sides, or -1."""
    partner, taken_by = np.full(len(starts) - 1, -1), np.full(number, -1)
    for pixel in range(len(partner)):
        for other in others[starts[pixel] : starts[pixel + 1]]:
            if taken_by[other] < 0:
                partner[pixel], taken_by[other] = other, pixel
                break
    return partner, taken_by


def thinned(lines: Lines) -> Lines:
    """Lines of one pixel (Guo and Hall, CACM 1989)."""
    method = cv2.ximgproc.THINNING_GUOHALL
    return np.asarray(cv2.ximgproc.thinning(lines.astype(np.uint8) * 255, thinningType=method)) > 0


def ultrametric(found: Hierarchies) -> Map:
    """The ultrametric contour map (H, W) of an image's first hierarchy, drawn left of and above each contour."""
    labels, pairs, number = found.superpixels.labels.astype(np.int64), found.superpixels.pairs, len(found.superpixels)
    keys = pairs.min(axis=1).astype(np.int64) * number + pairs.max(axis=1)
    order = np.argsort(keys)
    drawn = np.zeros(labels.shape)
    for axis in (0, 1):
        here, there = (labels[:-1], labels[1:]) if axis == 0 else (labels[:, :-1], labels[:, 1:])
        differ = here != there
        wanted = (np.minimum(here, there) * number + np.maximum(here, there))[differ]
        part = drawn[:-1] if axis == 0 else drawn[:, :-1]
        part[differ] = np.maximum(part[differ], found.strengths[0][order[np.searchsorted(keys[order], wanted)]])
    return drawn
