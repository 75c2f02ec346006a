"""The Berkeley Segmentation Data Set (BSDS500): photographs, and several people's boundaries of each.

images/<name>.jpg
groundTruth/<name>.mat    groundTruth, a struct for each person, with Boundaries (H, W) of 0 and 1
ucm2/<name>.mat           optional: ucm2 (2 H + 1, 2 W + 1), the ultrametric contour map of the data set's authors
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.io import loadmat

from densevse.artifacts.schemas.proposals import CONTOURS
from densevse.runtime.numerics import set_up
from densevse.vision.mcg.contours import contour_maps
from snakeproof.errors import InputError
from snakeproof.schema import write


def write_contours(folder: str, model: str, options: Mapping[str, Any], threads: int, output: str) -> None:
    """The job that writes the contour maps (CONTOURS) of the photographs in a folder of this layout.

    `model` and `options` are as for `contour_maps`. Raises `InputError` if there is no photograph.
    """
    set_up(threads)
    maps = contour_maps(photographs(folder), {"images": f"{folder}/images"}, model, options)
    write(maps, CONTOURS, output)


def photographs(folder: str | Path) -> pd.DataFrame:
    """The photographs of a folder of this layout: image_id, source (images), file, status (ok).

    Raises `InputError` if there is none.
    """
    found = sorted(path.name for path in Path(folder, "images").glob("*.jpg"))
    if not found:
        raise InputError(f"{folder}: no images/*.jpg in it; name a folder in the layout of BSDS500 in `boundaries`.")
    return pd.DataFrame({"image_id": [Path(name).stem for name in found], "file": found}).assign(
        source="images", status="ok"
    )


def read_boundaries(folder: str | Path, name: str) -> list[NDArray[np.bool_]]:
    """The boundaries (H, W) that each person drew. Raises `InputError` that names a file without any."""
    path = Path(folder, "groundTruth", f"{name}.mat")
    try:
        people = loadmat(path)["groundTruth"].ravel()
        return [person["Boundaries"][0, 0].astype(bool) for person in people]
    except Exception as error:  # SciPy raises many kinds of exceptions for a truncated file or one that is not MATLAB's
        raise InputError(f"{path}: no `groundTruth` with `Boundaries` as BSDS500 has them ({error!r}).") from error


def read_author_contours(folder: str | Path, name: str) -> NDArray[np.float64] | None:
    """The contour map (H, W) of the data set's authors, 0 to 1; None if the folder lacks it.

    Raises `InputError` that names a file without one.
    """
    path = Path(folder, "ucm2", f"{name}.mat")
    if not path.is_file():
        return None
    try:
        doubled = loadmat(path)["ucm2"].astype(np.float64)
    except Exception as error:
        raise InputError(f"{path}: no `ucm2` as BSDS500 has it ({error!r}).") from error
    contours: NDArray[np.float64] = doubled[2::2, 2::2] / (255 if doubled.max() > 1 else 1)
    return contours
