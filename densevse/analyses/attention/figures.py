"""What a model attends to, step by step, drawn on images (sm-LSTM, Figures 4 to 6)."""

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from numpy.typing import NDArray

from densevse.analyses.attention.schemas import SALIENCY
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.report.pictures import photographs
from densevse.report.plan import PicturePlan
from densevse.report.saving import save
from densevse.runtime.spacing import evenly_spaced

_PICTURES = 6
_WORDS = 2  # the paper shows the two most salient words of each step
_SIDE = 500  # pixels of averaged maps (section 4.7)


def saliency_maps(
    saliency: Sequence[str], images: str, captions: str, sources: dict[str, str], plan: PicturePlan, path: str
) -> None:
    """Draw the maps of images evenly spaced in SALIENCY artifacts (not chosen by their looks), one line each.

    `saliency` are the artifacts of the plan, in any order: of one model this is Figure 4, of two, one below the other,
    Figure 5. Raises `InputError` if one is missing.
    """
    index = ArtifactIndex(saliency, SALIENCY)
    found = {one.title: schema.read(index.path(one.of), SALIENCY) for one in plan.shown}
    first = next(iter(found.values()))
    texts = schema.read(captions, CAPTIONS).set_index("caption_id")["text"]
    photograph = photographs(images, sources)
    captions_drawn = first["caption_id"].unique()
    captions_drawn = captions_drawn[evenly_spaced(len(captions_drawn), _PICTURES)]
    steps, lines = int(first["step"].max()), len(captions_drawn) * len(found)
    figure = Figure(figsize=(3 * (steps + 1), 3.2 * lines), layout="constrained")
    figure.suptitle(plan.title)
    axes = iter(figure.subplots(lines, steps + 1, squeeze=False))
    for caption_id, name in ((one, name) for one in captions_drawn for name in found):
        places = list(next(axes))
        rows = found[name][found[name]["caption_id"] == caption_id]
        pixels = photograph(rows["image_id"].iloc[0])
        places[0].imshow(pixels)
        heading = textwrap.fill(texts[caption_id], 36) + (f"\n{name}" if len(found) > 1 else "")
        places[0].set_title(heading, fontsize=8, parse_math=False)
        for place, (step, of_step) in zip(places[1:], rows.groupby("step"), strict=False):
            place.imshow(shaded(pixels, of_step[of_step["word"] == ""]))
            place.set_title(f"{step}: {', '.join(salient_words(of_step))}", fontsize=9, parse_math=False)
        for place in places:
            place.axis("off")
    save(figure, path)


def averaged_maps(saliency: str, title: str, path: str) -> None:
    """Draw the mean of all images' maps at each step (Figure 6), each rescaled to the same square."""
    rows = schema.read(saliency, SALIENCY)
    cells = rows[rows["word"] == ""]
    means = cells.groupby(["step", "place"])["weight"].mean().unstack().to_numpy(float)
    figure = Figure(figsize=(3 * len(means) + 0.5, 3.6), layout="constrained")
    figure.suptitle(
        f"{title}\nmean over {cells['image_id'].nunique()} images, each with its first sentence", fontsize=10
    )
    axes = figure.subplots(1, len(means), squeeze=False)[0]
    side = round(means.shape[1] ** 0.5)
    for step, (place, weights) in enumerate(zip(axes, means, strict=True), 1):
        smooth = cv2.resize(weights.reshape(side, side) * side**2, (_SIDE, _SIDE), interpolation=cv2.INTER_CUBIC)
        shown = place.imshow(smooth, cmap="gray", vmin=0, vmax=max(2.0, float(means.max()) * side**2))
        place.set_title(f"step {step}", fontsize=9)
        place.axis("off")
    figure.colorbar(shown, ax=axes, label="saliency, uniform = 1", shrink=0.8)
    save(figure, path)


def salient_words(rows: pd.DataFrame) -> list[str]:
    """The most salient words of SALIENCY rows of one step, in the order of the sentence."""
    words = rows[rows["word"] != ""]
    return list(words.nlargest(_WORDS, "weight").sort_values("place")["word"])


def shaded(pixels: NDArray[np.uint8], cells: pd.DataFrame) -> NDArray[np.uint8]:
    """An image (height, width, 3) multiplied by its saliency map, the most salient cell at full light.

    Outside of what the network looks at, the image is black.
    """
    cells = cells.sort_values("place")
    side = round(len(cells) ** 0.5)
    weights = cells["weight"].to_numpy(np.float32).reshape(side, side)
    left, top, width, _ = cells[BOX].iloc[0]
    extent = max(1, round(side * float(width)))
    left, top = round(float(left)), round(float(top))
    light = np.zeros(pixels.shape[:2], np.float32)
    smooth = cv2.resize(weights / weights.max(), (extent, extent), interpolation=cv2.INTER_LINEAR)
    window = light[top : top + extent, left : left + extent]
    window[:] = smooth[: window.shape[0], : window.shape[1]]
    return (pixels * light[:, :, None]).astype(np.uint8)
