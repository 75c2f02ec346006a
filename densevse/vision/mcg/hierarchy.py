"""Builds hierarchies of regions from contour maps (Arbelaez et al., CVPR 2014, sections 2 and 3).

Each contour map becomes an ultrametric contour map: the watershed's superpixels are merged in pairs, in the order of
the mean strength of the contour between them. The watershed is computed on the slightly smoothed map, as a wide contour
has several weak ridges side by side that would enclose slivers. The strength is taken from nearby ridges, as the flanks
of a contour depend on its width, not on its strength. docs/proposals.md gives the results.

The hierarchies of all scales are projected onto the superpixels of the finest one, where they can be averaged and
compared. Merging the average gives the multiscale hierarchy. Watershed, merging and projection are higra's (Perret et
al., SoftwareX 2019).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import higra as hg
import numpy as np
from numpy.typing import NDArray

from densevse.runtime.arrays import Reals

Labels = NDArray[np.int32]

SMOOTHED = 1.0
"""The smoothing of a contour map before its watershed, in pixels."""

DIRECTION = 2.0
"""The smoothing of a map, in pixels, before the direction of its contours is measured."""


@dataclass(frozen=True)
class Superpixels:
    """The S finest regions of an image, and the E pairs of them that share an edge of pixels.

    `labels` (H, W) is each pixel's superpixel, from 0; `pairs` (E, 2) are adjacent superpixels, and `lengths` (E,) the
    edges of pixels that they share; `areas` (S,) are in pixels, `borders` (S,) count the edges on the image's border,
    and `boxes` (S, 4) are left, top, right and bottom, the last two exclusive.
    """

    labels: Labels
    pairs: Labels
    lengths: Labels
    areas: Labels
    borders: Labels
    boxes: Labels

    def __len__(self) -> int:
        return len(self.areas)


@dataclass(frozen=True)
class Hierarchy:
    """A binary tree of regions: nodes 0 to S - 1 are the superpixels, parents come after children, the root is last.

    `children` (S - 1, 2) are the two nodes that node S + k is merged from; `altitudes` (2 S - 1,) is the strength of
    the contour that a node's merging removes, 0 for a superpixel; it never falls from child to parent.
    """

    children: Labels
    altitudes: Reals

    @property
    def parents(self) -> Labels:
        """(2 S - 1,) the parent of each node; the root is its own."""
        leaves = len(self.children) + 1
        found = np.full(len(self.altitudes), len(self.altitudes) - 1, np.int32)
        found[self.children.ravel()] = np.repeat(np.arange(leaves, len(self.altitudes), dtype=np.int32), 2)
        return found


@dataclass(frozen=True)
class Hierarchies:
    """All hierarchies of an image over the same superpixels, with the strength of each on every pair (n, E)."""

    superpixels: Superpixels
    trees: tuple[Hierarchy, ...]
    strengths: Reals


def hierarchies(contours: Sequence[NDArray[np.uint8]], most: int) -> Hierarchies:
    """The hierarchies of an image from its contour maps (H, W) of 0 to 255, finest first.

    One map gives its own hierarchy (SCG). Several give the multiscale hierarchy and then those of the maps, the
    coarsest first (the columns of MCG's Pareto points). If the finest map has more than `most` superpixels, the weakest
    contours between them are removed until `most` are left, which bounds memory and time.
    """
    height, width = contours[0].shape
    graph = hg.get_4_adjacency_graph((height, width))
    fine = _adjacency(graph, contours[0], most)
    strengths = [_strength(fine, _tree(fine))]
    for contour in contours[1:]:
        coarse = _adjacency(graph, contour, most)
        leaves = hg.project_fine_to_coarse_labelisation(fine.labels, coarse.labels)
        strengths.insert(0, _strength(fine, _tree(coarse), leaves))
    if len(contours) > 1:
        mean = replace(fine, strengths=np.mean(strengths, axis=0))
        strengths.insert(0, _strength(fine, _tree(mean)))
    trees = tuple(_binary_hierarchy(fine, strength) for strength in strengths)
    return Hierarchies(_superpixels(fine, height, width), trees, np.stack(strengths))


@dataclass(frozen=True)
class _Adjacency:
    """A graph of adjacent regions with the mean strength and the length of the contour along each of its edges.

    `labels` (H * W,) is the region of each pixel.
    """

    graph: hg.UndirectedGraph
    strengths: Reals
    lengths: Reals
    labels: NDArray[np.int64]


def _adjacency(graph: hg.UndirectedGraph, contour: NDArray[np.uint8], most: int) -> _Adjacency:
    """Divides an image into at most `most` regions by the watershed of its contour map."""
    if contour.size == 1:
        return _Adjacency(hg.UndirectedGraph(1), np.zeros(0), np.zeros(0), np.zeros(1, np.int64))
    strengths = contour / 255
    regions = hg.labelisation_watershed(graph, _edge_strengths(graph, smooth_contours(strengths, SMOOTHED)))
    weights = _edge_strengths(graph, dilate_ridges(thin_contours(strengths)))
    found = _region_adjacency(graph, regions, weights)
    if found.graph.num_vertices() <= most:
        return found
    cut = hg.labelisation_horizontal_cut_from_num_regions(*_tree(found), most)
    return _region_adjacency(graph, cut.reshape(-1), weights)


def _edge_strengths(graph: hg.UndirectedGraph, pixels: Reals) -> Reals:
    """The strength of each edge between pixels: the mean of its two pixels."""
    first, second = graph.edge_list()
    mean: Reals = (pixels.ravel()[first] + pixels.ravel()[second]) / 2
    return mean


def _region_adjacency(graph: hg.UndirectedGraph, regions: NDArray[np.int64], weights: Reals) -> _Adjacency:
    adjacent = hg.make_region_adjacency_graph_from_labelisation(graph, regions)
    mean = hg.rag_accumulate_on_edges(adjacent, hg.Accumulators.mean, weights)
    lengths = hg.rag_accumulate_on_edges(adjacent, hg.Accumulators.counter, weights)
    return _Adjacency(adjacent, mean, lengths, hg.CptRegionAdjacencyGraph.get_vertex_map(adjacent))


def _tree(regions: _Adjacency) -> tuple[hg.Tree, Reals]:
    """Merges the two regions with the weakest mean contour between them, until one is left."""
    tree, altitudes = hg.binary_partition_tree_average_linkage(regions.graph, regions.strengths, regions.lengths)
    return tree, altitudes


def _strength(fine: _Adjacency, tree: tuple[hg.Tree, Reals], leaves: NDArray[np.int64] | None = None) -> Reals:
    """A hierarchy's contour strength on each pair of fine superpixels, whose places in its tree are `leaves`."""
    first, second = fine.graph.edge_list()
    if leaves is not None:
        first, second = leaves[first], leaves[second]
    strength: Reals = tree[1][tree[0].lowest_common_ancestor(first, second)]
    return strength


def _binary_hierarchy(fine: _Adjacency, strength: Reals) -> Hierarchy:
    tree, altitudes = hg.bpt_canonical(fine.graph, strength)
    leaves = tree.num_leaves()
    order = np.argsort(tree.parents()[:-1], kind="stable")
    children = order.reshape(leaves - 1, 2).astype(np.int32)
    return Hierarchy(children, np.asarray(altitudes, np.float64))


def _superpixels(fine: _Adjacency, height: int, width: int) -> Superpixels:
    labels = fine.labels.reshape(height, width).astype(np.int32)
    number = fine.graph.num_vertices()
    first, second = fine.graph.edge_list()
    rim = np.concatenate([labels[0], labels[-1], labels[:, 0], labels[:, -1]])
    return Superpixels(
        labels=labels,
        pairs=np.stack([first, second], axis=1).astype(np.int32),
        lengths=fine.lengths.astype(np.int32),
        areas=np.bincount(labels.ravel(), minlength=number).astype(np.int32),
        borders=np.bincount(rim, minlength=number).astype(np.int32),
        boxes=_boxes(labels, number),
    )


def _boxes(labels: Labels, number: int) -> Labels:
    rows, columns = np.divmod(np.arange(labels.size), labels.shape[1])
    order = np.argsort(labels, axis=None, kind="stable")
    starts = np.searchsorted(labels.ravel()[order], np.arange(number))
    sides = [
        np.minimum.reduceat(columns[order], starts),
        np.minimum.reduceat(rows[order], starts),
        np.maximum.reduceat(columns[order], starts) + 1,
        np.maximum.reduceat(rows[order], starts) + 1,
    ]
    return np.stack(sides, axis=1).astype(np.int32)


# --- ridges: contours are several pixels wide, and the boundary is their middle ----------------------------------


def thin_contours(contours: Reals) -> Reals:
    """A contour map (H, W) with only the maxima across contours; all other pixels are 0.

    The direction of a contour is where the smoothed map has the least curvature.
    """
    smooth = smooth_contours(contours, DIRECTION)
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


def dilate_ridges(ridges: Reals) -> Reals:
    """A map (H, W) whose every pixel is the maximum over itself and its eight neighbours."""
    return np.asarray(cv2.dilate(ridges, np.ones((3, 3), np.uint8)), np.float64)


def smooth_contours(contours: Reals, pixels: float) -> Reals:
    """A map (H, W) smoothed by a Gaussian of this standard deviation."""
    return np.asarray(cv2.GaussianBlur(contours, (0, 0), pixels), np.float64)
