"""Finds images of a data set that are the same file under several ids."""

import pandas as pd


def copies(images: pd.DataFrame, split: str, of: str) -> list[str]:
    """The ids of images of `split` with the same bytes as an image of the split `of`, or as another one of `split`.

    `images` are IMAGES rows; a missing image is no copy.
    """
    there = images[images["sha256"] != ""]
    own = there[there["split"] == split]
    if split == of:
        return list(own.loc[own["sha256"].duplicated(keep=False), "image_id"])
    return list(own.loc[own["sha256"].isin(there.loc[there["split"] == of, "sha256"]), "image_id"])
