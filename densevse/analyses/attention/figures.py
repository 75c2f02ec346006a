"""Draws a model's attention on images, step by step (sm-LSTM, Figures 4 to 6)."""

import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cv2
import numpy as np
import pandas as pd
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import NDArray

from densevse.analyses.attention.saliency import SALIENCY, salient_words, select_places
from densevse.artifacts.boxes import BOX
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schemas.datasets import CAPTIONS, IMAGES
from densevse.report.figures import draw_picture, save_figure
from densevse.report.pictures import Pixels, photographs
from densevse.report.plan import PicturePlan
from densevse.runtime.arrays import Reals, spaced_indices
from snakeproof import schema
from snakeproof.strict import validate

_PICTURES = 6
_STEPS = 6  # steps drawn of an image, at most; words or places as steps may be more
_CANVAS, _SIDE = 100, 500  # pixels of averaged maps, in sums and in the drawing (section 4.7)
_BLUR = 0.25  # the smoothing of a map's edges, as a share of the shortest side of its places
_SCALE = "saliency; 1 is uniform, and clear"
_LEGEND = (
    "Left, the picture with its first sentence. Then a step of attention each: coloured places have more than uniform "
    "attention, the more the darker. Above a step: its number, and the two most salient words."
)
_LEGEND_OF_MEAN = "Coloured places have more than uniform attention in the mean of all images, the more the darker."


def _colours() -> ListedColormap:
    """A colour map from transparent over yellow and red to violet, so that the picture stays visible."""
    found = colormaps["inferno_r"](np.linspace(0.1, 0.85, 256))
    found[:, 3] = 0.85 * np.linspace(0, 1, 256) ** 0.5
    return ListedColormap(found, name="saliency")


COLOURS = _colours()


def draw_saliency(
    saliency: str,
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    plan: Mapping[str, Any],
    maps: str,
    mean: str,
) -> None:
    """The job that draws a model's `maps` (Figure 4), and the `mean` over all images (Figure 6).

    `plan` is a `PicturePlan`, and `sources` are the data set's files by name.
    """
    draw_saliency_maps([saliency], image_table, caption_table, sources, plan, maps)
    draw_mean_maps(saliency, image_table, str(plan["title"]), mean)


def draw_saliency_maps(
    saliency: Sequence[str],
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    plan: Mapping[str, Any],
    output: str,
) -> None:
    """The job that draws maps of images evenly spaced in SALIENCY artifacts (not chosen by their looks), one line each.

    For an image with more than `_STEPS` steps, it draws those with the sharpest maps.

    `saliency` are the artifacts of the `plan` (a `PicturePlan`), in any order: for one model this is Figure 4; for two,
    one below the other, Figure 5. Raises `InputError` if one is missing.
    """
    settings = validate(PicturePlan, plan, "the plan of the picture")
    index = ArtifactIndex(saliency, SALIENCY)
    found = {title: schema.read(index.path(of), SALIENCY) for title, of in settings.shown.items()}
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    photograph = photographs(image_table, sources)
    save_figure(_draw_maps(found, texts, photograph, settings.title), output, _LEGEND)


def _draw_maps(
    found: Mapping[str, pd.DataFrame], texts: pd.Series, photograph: Callable[[str], Pixels], title: str
) -> Figure:
    """The maps of images in the SALIENCY rows of models, by the models' titles."""
    first = next(iter(found.values()))
    captions_drawn = first["caption_id"].unique()
    captions_drawn = captions_drawn[spaced_indices(len(captions_drawn), _PICTURES)]
    shown = {name: rows[rows["caption_id"].isin(captions_drawn)] for name, rows in found.items()}
    steps = min(_STEPS, max(int(rows["step"].max()) for rows in shown.values()))
    lines = len(captions_drawn) * len(found)
    top = max(peak_saliency(rows) for rows in shown.values())
    figure = Figure(figsize=(3 * (steps + 1), 3.2 * lines), layout="constrained")
    figure.suptitle(title, parse_math=False)
    axes = iter(figure.subplots(lines, steps + 1, squeeze=False))
    for caption_id, name in ((one, name) for one in captions_drawn for name in found):
        rows = shown[name][shown[name]["caption_id"] == caption_id]
        heading = textwrap.fill(texts[caption_id], 36) + (f"\n{name}" if len(found) > 1 else "")
        drawn = _draw_line(list(next(axes)), photograph(rows["image_id"].iloc[0]), rows, heading, top)
    figure.colorbar(drawn, ax=figure.axes, label=_SCALE, shrink=0.3, aspect=40)
    return figure


def _draw_line(places: list[Axes], pixels: Pixels, rows: pd.DataFrame, heading: str, top: float) -> AxesImage:
    """Draws a picture, and beside it the sharpest maps of its steps; returns the last map, for the colour bar."""
    draw_picture(places[0], pixels)
    places[0].set_title(heading, fontsize=8, parse_math=False)
    for place, (step, of_step) in zip(places[1:], _sharpest_steps(rows).groupby("step"), strict=False):
        draw_picture(place, fade_picture(pixels))
        of_places = select_places(of_step)
        heat = heat_map(of_places[BOX].to_numpy(float), of_places["weight"].to_numpy(), pixels.shape[:2])
        drawn = place.imshow(heat, cmap=COLOURS, vmin=1, vmax=top, interpolation="bicubic")
        place.set_title(f"{step}: {', '.join(salient_words(of_step)['word'])}", fontsize=9, parse_math=False)
    for place in places:
        place.axis("off")
    return drawn


def draw_mean_maps(saliency: str, images: str, title: str, path: str) -> None:
    """Draws the mean of all images' maps at each step (Figure 6), each rescaled to the same square.

    `images` is the data set's IMAGES. If there are more than `_STEPS` steps, the mean is over all of them.
    """
    rows = schema.read(saliency, SALIENCY)
    places = select_places(rows)
    if places["step"].max() > _STEPS:
        titles, step = ["all steps"], np.ones(len(places), int)
    else:
        titles, step = [f"step {number}" for number in range(1, places["step"].max() + 1)], places["step"].to_numpy()
    sizes = (
        schema.read(images, IMAGES).set_index("image_id").loc[places["image_id"], ["width", "height"]].to_numpy(float)
    )
    means = _mean_maps(places, places[BOX].to_numpy(float) / np.tile(sizes, 2) * _CANVAS, step - 1)
    figure = Figure(figsize=(3 * len(means) + 0.5, 3.6), layout="constrained")
    figure.suptitle(
        f"{title}\nmean over {places['image_id'].nunique()} images, each with its first sentence",
        fontsize=10,
        parse_math=False,
    )
    axes = figure.subplots(1, len(means), squeeze=False)[0]
    for place, mean, heading in zip(axes, means, titles, strict=True):
        smooth = cv2.resize(mean, (_SIDE, _SIDE), interpolation=cv2.INTER_CUBIC)
        shown = place.imshow(smooth, cmap=COLOURS, vmin=1, vmax=max(2.0, float(means.max())))
        place.set_title(heading, fontsize=9, parse_math=False)
        place.axis("off")
    figure.colorbar(shown, ax=axes, label=_SCALE, shrink=0.8)
    save_figure(figure, path, _LEGEND_OF_MEAN)


def _mean_maps(places: pd.DataFrame, boxes: Reals, step: NDArray[np.int64]) -> Reals:
    """(steps, _CANVAS, _CANVAS) the mean map of each step; `boxes` and `step` (from 0) are those of the places."""
    weights, steps = places["weight"].to_numpy(), int(step.max()) + 1
    maps, counts = np.zeros((steps, _CANVAS, _CANVAS)), np.zeros(steps)
    for some in _map_rows(places):
        number = step[some[0]]
        maps[number] += heat_map(boxes[some], weights[some], (_CANVAS, _CANVAS))
        counts[number] += 1
    return maps / counts[:, None, None]


def _map_rows(places: pd.DataFrame) -> list[NDArray[np.int64]]:
    """The rows of each map: those of one step of one image."""
    groups = places.groupby(["image_id", "step"], sort=False).indices
    return [np.asarray(rows) for rows in groups.values()]


def _sharpest_steps(rows: pd.DataFrame) -> pd.DataFrame:
    """An image's rows for the at most `_STEPS` steps with the most weight in one place."""
    top = select_places(rows).groupby("step")["weight"].max().nlargest(_STEPS)
    return rows[rows["step"].isin(top.index)]


def peak_saliency(rows: pd.DataFrame) -> float:
    """The top of the scale for SALIENCY rows: the largest multiple of a uniform weight, at least 2."""
    places = select_places(rows)
    number = places.groupby(["caption_id", "step"])["weight"].transform("size")
    return max(2.0, float((places["weight"] * number).max()))


def fade_picture(pixels: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A light grey picture, on which colours can be distinguished."""
    grey = 110 + pixels.mean(axis=2, keepdims=True) / 2
    return np.broadcast_to(grey, pixels.shape).astype(np.uint8)


def heat_map(boxes: Reals, weights: Reals, size: tuple[int, int]) -> NDArray[np.float32]:
    """The saliency of each pixel of an image (height, width) in multiples of a uniform one.

    A pixel's saliency is the largest weight (n,) of the places with boxes (n, 4) that contain it, and 0 if none does.
    Edges are smoothed.
    """
    heat = np.zeros(size, np.float32)
    corners = np.concatenate((boxes[:, :2], boxes[:, :2] + boxes[:, 2:]), axis=1).round().astype(int)
    for place in np.argsort(weights):
        left, top, right, bottom = corners[place]
        heat[top:bottom, left:right] = weights[place] * len(weights)
    blur = _BLUR * float(boxes[:, 2:].min())
    return np.asarray(cv2.GaussianBlur(heat, (0, 0), blur, borderType=cv2.BORDER_REPLICATE), np.float32)
