"""Which regions of an image SCO's concept network scores (section 3.2: r = 50, "in a similar way as" HCP).

HCP (Wei et al., "CNN: Single-label to multi-label", 2014) leaves out proposals that are small or long, clusters the
others by how far they overlap, and takes the best of each cluster, so that the regions lie on all things instead of
crowding on one. So it is here:

1. Of the first `considered` boxes of a proposer those stay that have at least `smallest_area` pixels and whose longer
   side is at most `longest_ratio` times the shorter one.
2. Average linkage joins them by one minus their intersection over union, until no more than `boxes` clusters are left.
   (HCP's normalised cuts do the same by eigenvectors, whose last bits differ from machine to machine.)
3. The first box of each cluster, in the proposer's order, stands for it.

The whole image comes before them, as it does with all regions: it is one of the paper's r = 50. Regions are read with
the same 16 pixels around them as those of R-CNN (`regions.context` of the network); SCO speaks of the boxes alone.
"""

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from densevse.artifacts.boxes import BOX, Boxes, intersection_over_union
from densevse.config.proposers import Clustered


def clustered(proposals: pd.DataFrame, options: Clustered) -> pd.DataFrame:
    """One of each cluster of every image's PROPOSALS rows, ranked anew in their order; images keep theirs."""
    kept = [
        image.iloc[chosen(image[BOX].to_numpy(np.float32), options)].assign(rank=lambda rows: np.arange(len(rows)))
        for _, image in proposals.sort_values("rank", kind="stable").groupby("image_id", sort=False)
    ]
    found = pd.concat([proposals.iloc[:0], *kept]).astype({"rank": proposals["rank"].dtype})
    return found.assign(class_name="")  # of a cluster no class is known


def chosen(boxes: Boxes, options: Clustered) -> NDArray[np.int64]:
    """The numbers of at most `options.boxes` of an image's boxes (n, 4), which are in the proposer's order; rising."""
    sides = boxes[: options.considered, 2:]
    large = sides.prod(axis=1) >= options.smallest_area
    fitting = np.flatnonzero(large & (sides.max(axis=1) <= options.longest_ratio * sides.min(axis=1)))
    if len(fitting) <= options.boxes:
        return fitting
    some = boxes[fitting]
    apart = np.maximum(0, 1 - intersection_over_union(some[:, None], some[None]).astype(np.float64))
    tree = linkage(squareform(apart, checks=False), "average")
    _, first = np.unique(fcluster(tree, options.boxes, "maxclust"), return_index=True)
    return fitting[np.sort(first)]
