"""What a model attends to, step by step, drawn on images (sm-LSTM, Figures 4 to 6)."""

import textwrap
from collections.abc import Sequence

import cv2
import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from numpy.typing import NDArray

from densevse.analyses.attention.schemas import SALIENCY
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.report.drawing import draw_picture
from densevse.report.pictures import photographs
from densevse.report.plan import PicturePlan
from densevse.report.saving import save
from densevse.runtime.spacing import evenly_spaced

_PICTURES = 6
_WORDS = 2  # the paper shows the two most salient words of each step
_SIDE = 500  # pixels of averaged maps (section 4.7)
_SCALE = "saliency, uniform = 1"


def _colours() -> ListedColormap:
    """From nothing over yellow and red to violet, and ever less transparent, so that the picture stays visible."""
    found = colormaps["inferno_r"](np.linspace(0, 0.85, 256))
    found[:, 3] = np.linspace(0, 0.7, 256)
    return ListedColormap(found, name="saliency")


COLOURS = _colours()


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
    shown = {name: rows[rows["caption_id"].isin(captions_drawn)] for name, rows in found.items()}
    top = max(most_salient(rows) for rows in shown.values())
    figure = Figure(figsize=(3 * (steps + 1), 3.2 * lines), layout="constrained")
    figure.suptitle(plan.title)
    axes = iter(figure.subplots(lines, steps + 1, squeeze=False))
    for caption_id, name in ((one, name) for one in captions_drawn for name in found):
        places = list(next(axes))
        rows = shown[name][shown[name]["caption_id"] == caption_id]
        pixels = photograph(rows["image_id"].iloc[0])
        draw_picture(places[0], pixels)
        heading = textwrap.fill(texts[caption_id], 36) + (f"\n{name}" if len(found) > 1 else "")
        places[0].set_title(heading, fontsize=8, parse_math=False)
        for place, (step, of_step) in zip(places[1:], rows.groupby("step"), strict=False):
            draw_picture(place, faded(pixels))
            heat = heat_map(of_step[of_step["word"] == ""], pixels.shape[:2])
            drawn = place.imshow(heat, cmap=COLOURS, vmin=0, vmax=top, interpolation="bicubic")
            place.set_title(f"{step}: {', '.join(salient_words(of_step))}", fontsize=9, parse_math=False)
        for place in places:
            place.axis("off")
    figure.colorbar(drawn, ax=figure.axes, label=_SCALE, shrink=0.3, aspect=40)
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
        shown = place.imshow(smooth, cmap=COLOURS, vmin=0, vmax=max(2.0, float(means.max()) * side**2))
        place.set_title(f"step {step}", fontsize=9)
        place.axis("off")
    figure.colorbar(shown, ax=axes, label=_SCALE, shrink=0.8)
    save(figure, path)


def salient_words(rows: pd.DataFrame) -> list[str]:
    """The most salient words of SALIENCY rows of one step, in the order of the sentence."""
    words = rows[rows["word"] != ""]
    return list(words.nlargest(_WORDS, "weight").sort_values("place")["word"])


def most_salient(rows: pd.DataFrame) -> float:
    """The top of the scale for SALIENCY rows: their most salient cell in multiples of a uniform weight, at least 2."""
    cells = rows[rows["word"] == ""]
    number = cells.groupby(["caption_id", "step"])["weight"].transform("size")
    return max(2.0, float((cells["weight"] * number).max()))


def faded(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A light grey picture, on which colours can be told from each other."""
    grey = 110 + pixels.mean(axis=2, keepdims=True) / 2
    return np.broadcast_to(grey, pixels.shape).astype(np.uint8)


def heat_map(cells: pd.DataFrame, size: tuple[int, int]) -> NDArray[np.float32]:
    """The saliency of each pixel of an image (height, width) in multiples of a uniform one.

    `cells` are the SALIENCY rows of a step. Outside of what the network looks at, saliency is 0.
    """
    cells = cells.sort_values("place")
    side = round(len(cells) ** 0.5)
    weights = cells["weight"].to_numpy(np.float32).reshape(side, side) * len(cells)
    left, top, width, _ = cells[BOX].iloc[0]
    extent = max(1, round(side * float(width)))
    left, top = round(float(left)), round(float(top))
    heat = np.zeros(size, np.float32)
    smooth = cv2.resize(weights, (extent, extent), interpolation=cv2.INTER_LINEAR)
    window = heat[top : top + extent, left : left + extent]
    window[:] = smooth[: window.shape[0], : window.shape[1]]
    return heat
