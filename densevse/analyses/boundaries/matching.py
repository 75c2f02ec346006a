"""Compares contour maps with people's boundaries, as BSDS500 does (Martin, Fowlkes and Malik, PAMI 2004).

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

from densevse.analyses.boundaries.bsds import read_author_contours, read_boundaries
from densevse.artifacts.columns import IMAGE_ID
from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.runtime.arrays import Reals
from densevse.vision.mcg.hierarchy import Hierarchies, hierarchies, thin_contours
from densevse.vision.mcg.shards import decode_map
from densevse.vision.processes import map_in_processes
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema, read, write

Lines = NDArray[np.bool_]

TOLERANCE = 0.0075
"""The largest distance of a matched pixel from a person's boundary, as a share of the image's diagonal."""

BOUNDARY_MATCHES = Schema(
    "boundary_matches",
    "a contour map of an image, cut at a threshold",
    (
        IMAGE_ID,
        Column("map", TEXT, "which map: of the contour network, of the hierarchy, or of the data set's authors"),
        Column("threshold", REAL, "what is as strong as this is drawn, 0 to 1"),
        Column("right", NUMBER, "drawn pixels that are matched with some person's boundaries"),
        Column("drawn", NUMBER, "pixels that are drawn"),
        Column("found", NUMBER, "pixels of boundaries that are matched, summed over people"),
        Column("true", NUMBER, "pixels of boundaries, summed over people"),
    ),
)

THRESHOLDS = tuple(np.round(np.arange(0.04, 1, 0.05), 2).tolist())

F_MEASURES = {
    "ods": "F (ODS)",
    "ois": "F (OIS)",
    "threshold": "Threshold",
    "precision": "Precision",
    "recall": "Recall",
}
"""The metrics of a summary, by their names in the table."""


def write_matches(folder: str, contours: str, superpixels: int, threads: int, output: str) -> None:
    """The job that writes the BOUNDARY_MATCHES of the photographs in a folder of BSDS's layout with CONTOURS.

    The maps are those of the contour network at each scale, reduced to maxima across contours; that of the hierarchy of
    all scales, with a largest number of superpixels; and that of the data set's authors, if the folder has it.
    """
    groups = read(contours, CONTOURS).groupby("image_id", sort=False)
    tasks = [(folder, str(name), list(group["scale"]), list(group["picture"]), superpixels) for name, group in groups]
    found = pd.concat(map_in_processes(_match_image, tasks, threads, "boundaries"), ignore_index=True)
    write(found, BOUNDARY_MATCHES, output)


def _match_image(task: tuple[str, str, list[float], list[bytes], int]) -> pd.DataFrame:
    folder, name, scales, pictures, superpixels = task
    people = read_boundaries(folder, name)
    contours = [decode_map(picture) for picture in pictures]
    maps = {f"contours, scale {scale:g}": thin_contours(one / 255) for scale, one in zip(scales, contours, strict=True)}
    maps["hierarchy"] = ultrametric_map(hierarchies(contours, superpixels))
    of_authors = read_author_contours(folder, name)
    if of_authors is not None:
        maps["gPb-UCM of the data set's authors"] = of_authors
    return pd.concat([matches(name, title, one, people) for title, one in maps.items()], ignore_index=True)


def matches(image_id: str, name: str, contours: Reals, people: Sequence[Lines]) -> pd.DataFrame:
    """The rows of BOUNDARY_MATCHES of one image for a contour map (H, W) of 0 to 1, called `name`."""
    rows = []
    for threshold in THRESHOLDS:
        lines = thin_lines(contours >= threshold)
        right, found, true = np.zeros(lines.sum(), bool), 0, 0
        for person in people:
            of_lines, of_person = match_lines(lines, person)
            right |= of_lines
            found, true = found + of_person.sum(), true + len(of_person)
        rows.append((image_id, name, threshold, right.sum(), len(right), found, true))
    frame = pd.DataFrame(rows, columns=[column.name for column in BOUNDARY_MATCHES.columns])
    return frame.astype({"threshold": "float32"} | dict.fromkeys(["right", "drawn", "found", "true"], "int32"))


def match_lines(lines: Lines, person: Lines) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
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
    partner, taken_by = _match_greedily(starts, others, number)
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
def _match_greedily(starts, others, number):
    """A greedy matching: each pixel takes the nearest free one; the partners of both sides, or -1."""
    partner, taken_by = np.full(len(starts) - 1, -1), np.full(number, -1)
    for pixel in range(len(partner)):
        for other in others[starts[pixel] : starts[pixel + 1]]:
            if taken_by[other] < 0:
                partner[pixel], taken_by[other] = other, pixel
                break
    return partner, taken_by


def thin_lines(lines: Lines) -> Lines:
    """Lines of one pixel (Guo and Hall, CACM 1989)."""
    method = cv2.ximgproc.THINNING_GUOHALL
    return np.asarray(cv2.ximgproc.thinning(lines.astype(np.uint8) * 255, thinningType=method)) > 0


def ultrametric_map(found: Hierarchies) -> Reals:
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


def write_table(matches: str, markdown: str, html: str, latex: str) -> None:
    """The job that writes the table of the contour maps in BOUNDARY_MATCHES."""
    table(read(matches, BOUNDARY_MATCHES)).write(markdown, html, latex)


def f_measure(right: Reals, drawn: Reals, found: Reals, true: Reals) -> Reals:
    """The harmonic mean of precision and recall; 0 if nothing is matched."""
    precision, recall = right / np.maximum(drawn, 1), found / np.maximum(true, 1)
    total: Reals = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return total


def summary(rows: pd.DataFrame) -> dict[str, float]:
    """The summary of one map's BOUNDARY_MATCHES: its best F at one threshold (ODS), and at each image's best (OIS).

    It also has the threshold of ODS, and the precision and recall there.
    """
    counts = ["right", "drawn", "found", "true"]
    together = rows.groupby("threshold")[counts].sum()
    scores = f_measure(*together.to_numpy(np.float64).T)
    best = together.iloc[int(scores.argmax())]
    of_image = rows.assign(f=f_measure(*rows[counts].to_numpy(np.float64).T)).reset_index(drop=True)
    own = of_image.loc[of_image.groupby("image_id")["f"].idxmax(), counts].sum()
    return {
        "ods": float(scores.max()),
        "ois": float(f_measure(*own.to_numpy(np.float64)[:, None])[0]),
        "threshold": float(together.index[int(scores.argmax())]),
        "precision": float(best["right"] / max(best["drawn"], 1)),
        "recall": float(best["found"] / max(best["true"], 1)),
        "images": rows["image_id"].nunique(),
    }


def table(rows: pd.DataFrame) -> Document:
    """The summaries of all maps of BOUNDARY_MATCHES."""
    lines = []
    for name, group in rows.groupby("map", sort=False):
        facts = summary(group)
        lines.append([str(name), str(facts["images"]), *(f"{facts[key]:.3f}" for key in F_MEASURES)])
    columns = (TableColumn("Map", number=False), *map(TableColumn, ("Images", *F_MEASURES.values())))
    notes = [
        "ODS: one threshold for all images; OIS: the best one of each.",
        f"Pixels are matched one to one with each person's boundaries, within {TOLERANCE} of the image's diagonal.",
    ]
    return Document("Boundaries", [Sheet("", columns, lines)], notes)
