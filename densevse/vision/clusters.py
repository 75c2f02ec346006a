"""Chooses the regions that SCO's concept network scores (section 3.2: r = 50, "in a similar way as" HCP).

HCP (Wei et al., "CNN: Single-label to multi-label", 2014) leaves out small or long proposals, clusters the others by
their overlap, and takes the best of each cluster, so that the regions cover all objects and do not crowd on one. The
steps here are:

1. Among the first `considered` boxes of a proposer, keep those with at least `smallest_area` pixels whose longer side
   is at most `longest_ratio` times the shorter one.
2. Cluster them by average linkage on one minus their intersection over union, down to at most `boxes` clusters.
   (HCP's normalised cuts do the same by eigenvectors, whose last bits differ from machine to machine.)
3. Take the first box of each cluster, in the proposer's order.

The whole image comes first, as in all regions, and counts as one of the paper's r = 50. Regions are read with the same
16 pixels of context as those of R-CNN (`regions.context` of the network); SCO mentions no context.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from densevse.artifacts.boxes import BOX, Boxes, intersection_over_union
from densevse.artifacts.schemas.proposals import PROPOSALS
from densevse.artifacts.shards import remove_old_shards
from densevse.config.proposers import Clustered
from snakeproof.schema import read, write
from snakeproof.strict import validate


def write_clusters(proposals: str, options: Mapping[str, Any], wildcards: Mapping[str, Any], output: str) -> None:
    """The job that writes one box of each cluster of a shard's PROPOSALS; `options` are those of `Clustered`."""
    chosen_by = validate(Clustered, options, f"proposers.{wildcards['proposer']}.options")
    write(cluster_proposals(read(proposals, PROPOSALS), chosen_by), PROPOSALS, output)
    remove_old_shards(output)


def cluster_proposals(proposals: pd.DataFrame, options: Clustered) -> pd.DataFrame:
    """One box of each cluster, from every image's PROPOSALS rows, ranked again in their order."""
    kept = [
        image.iloc[choose_boxes(image[BOX].to_numpy(np.float32), options)].assign(
            rank=lambda rows: np.arange(len(rows))
        )
        for _, image in proposals.sort_values("rank", kind="stable").groupby("image_id", sort=False)
    ]
    found = pd.concat([proposals.iloc[:0], *kept]).astype({"rank": proposals["rank"].dtype})
    return found.assign(class_name="")  # the class of a cluster is unknown


def choose_boxes(boxes: Boxes, options: Clustered) -> NDArray[np.int64]:
    """The indices, ascending, of at most `options.boxes` of an image's boxes (n, 4), in the proposer's order."""
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
