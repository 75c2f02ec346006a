"""Runs all steps after the contours for one image: hierarchies, candidates, their order, and boxes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.vision.mcg.candidates import GroupedCandidates, candidates, features
from densevse.vision.mcg.forest import RegressionForest
from densevse.vision.mcg.hierarchy import Superpixels, hierarchies
from densevse.vision.mcg.ranking import distinct_boxes, diversify
from densevse.vision.processes import Timer


@dataclass(frozen=True)
class McgProposals:
    """An image's ranked candidates, best first, with `scores` (C,); `boxed` are those with a distinct box."""

    superpixels: Superpixels
    candidates: GroupedCandidates
    scores: NDArray[np.float32]
    boxed: NDArray[np.int64]

    def boxes(self, height: int, width: int) -> Boxes:
        """(n, 4) x, y, width, height of `boxed` in the pixels of an image of `height` x `width`."""
        worked_height, worked_width = self.superpixels.labels.shape
        scale = np.array([width / worked_width, height / worked_height] * 2)
        corners = self.candidates.boxes[self.boxed] * scale
        return np.concatenate([corners[:, :2], corners[:, 2:] - corners[:, :2]], axis=1).astype(np.float32)


def propose(
    contours: Sequence[NDArray[np.uint8]],
    counts: Sequence[Sequence[int]],
    forest: RegressionForest,
    most_superpixels: int,
    most: int,
    timer: Timer | None = None,
) -> McgProposals:
    """Ranks the candidates of an image with these contour maps (h, w), finest first; at most `most`.

    `counts[k][h]` candidates of k + 1 regions are formed from hierarchy h: One map has one hierarchy (SCG); several
    have the multiscale one and then one for each map, coarsest first (MCG). The same input gives the same output. A
    `timer` measures each step.
    """
    timer = timer or Timer()
    with timer.step("hierarchies"):
        found = hierarchies(contours, most_superpixels)
    with timer.step("candidates"):
        formed = candidates(found, counts)
    with timer.step("features"):
        described = features(formed, found)
    with timer.step("qualities"):
        qualities = forest.predict(described)
    with timer.step("order"):
        order, scores = diversify(formed, qualities, found.superpixels.areas, most)
        ranked = formed[order]
        boxed = distinct_boxes(ranked.boxes)
    return McgProposals(found.superpixels, ranked, scores, boxed)
