"""Draws the pictures of HM-LSTM: the phrases nearest to regions (Fig 6), correspondences (Fig 7), the space (Fig 8)."""

import textwrap
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray
from sklearn.manifold import TSNE

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.features import CORRESPONDENCES, EMBEDDINGS
from densevse.report.figures import (
    QUIET,
    RIGHT_COLOUR,
    draw_phrases,
    draw_picture,
    picture_grid,
    save_figure,
    shorten_text,
)
from densevse.report.pictures import photographs
from densevse.runtime.arrays import spaced_indices
from snakeproof import schema
from snakeproof.store import FeatureStore

Vectors = NDArray[np.float32]
STYLES: dict[str, dict[str, Any]] = {
    "image": {"color": "#d93025", "marker": "s", "s": 34, "zorder": 3},
    "sentence": {"color": "#1967d2", "marker": "o", "s": 10, "zorder": 2},
    "region": {"color": "#f29900", "marker": "^", "s": 12, "zorder": 1},
    "phrase": {"color": "#188038", "marker": ".", "s": 12, "zorder": 1},
}
_IMAGES, IMAGES_OF_ALL_KINDS = 60, 20
_REGIONS, PHRASES, _PICTURES = 8, 5, 8
BOX_COLOR = "#d93025"
_CORRESPONDENCES = (
    "Training images, each with a sentence. Below it are its phrases; a phrase has the colour of the box that the "
    "model chose for it, and the number is the confidence of this choice, from 0 to 1."
)
_SPACE = (
    "Near points are similar to the model (t-SNE of cosine distances; the axes have no unit). A grey line joins a "
    "sentence with its image; a number is that of the image."
)
_NEAREST = (
    "The best detection of each test image, and the five phrases that are nearest to it among those of all test "
    "sentences. Green: a phrase of this image's own sentences. Grey: a phrase of another image, which may fit as well."
)


def draw_correspondences(
    correspondences: str,
    image_table: str,
    caption_table: str,
    sources: Mapping[str, str],
    title: str,
    output: str,
) -> None:
    """The job that draws correspondences of captions that are evenly spaced in a CORRESPONDENCES artifact.

    They are not chosen by their looks.
    """
    found = schema.read(correspondences, CORRESPONDENCES)
    texts = schema.read(caption_table, CAPTIONS).set_index("caption_id")["text"]
    photograph = photographs(image_table, sources)
    described = found["caption_id"].unique()
    chosen = described[spaced_indices(len(described), _PICTURES)]
    figure, axes = picture_grid(len(chosen), title)
    for place, caption_id in zip(axes, chosen, strict=False):
        phrases = found[found["caption_id"] == caption_id].sort_values(["start", "end"])
        draw_picture(place, photograph(phrases["image_id"].iloc[0]))
        place.set_title(textwrap.fill(texts[caption_id], 36), fontsize=9, parse_math=False)
        draw_phrases(place, phrases)
    save_figure(figure, output, _CORRESPONDENCES)


def draw_embeddings(
    embeddings: str, image_table: str, sources: Mapping[str, str], title: str, space: str, nearest: str
) -> None:
    """The job that draws both figures of an EMBEDDINGS artifact: the common `space`, and the `nearest` phrases."""
    draw_space(embeddings, f"The common space: {title}", space)
    phrases_title = f"Best detections and their nearest phrases among all test phrases: {title}"
    draw_nearest_phrases(embeddings, image_table, sources, phrases_title, nearest)


def draw_space(embeddings: str, title: str, path: str) -> None:
    """Draws 60 images, evenly spaced, with their sentences, and 20 of them also with their regions and phrases.

    `embeddings` is an EMBEDDINGS artifact.
    """
    store = FeatureStore([embeddings], EMBEDDINGS)
    drawn = np.flatnonzero(store.rows["kind"].isin(list(STYLES)))
    rows, vectors = store.rows.iloc[drawn].reset_index(drop=True), store.gather(drawn).astype(np.float32)
    image_ids = rows.loc[rows["kind"] == "image", "image_id"].to_numpy()
    figure = Figure(figsize=(18, 9), layout="constrained")
    figure.suptitle(title, parse_math=False)
    left, right = figure.subplots(1, 2)
    _draw_space(left, *_select_images(rows, vectors, image_ids, _IMAGES, ("image", "sentence")), numbered=True)
    _draw_space(right, *_select_images(rows, vectors, image_ids, IMAGES_OF_ALL_KINDS, tuple(STYLES)), numbered=False)
    save_figure(figure, path, _SPACE)


def project(vectors: Vectors) -> NDArray[np.float64]:
    """(n, 2) t-SNE of cosine distances; the same vectors give the same result."""
    perplexity = min(30, (len(vectors) - 1) / 3)
    made: NDArray[np.float64] = TSNE(
        perplexity=perplexity, metric="cosine", init="random", random_state=0, n_jobs=1
    ).fit_transform(vectors)
    return made


def _select_images(
    rows: pd.DataFrame, vectors: Vectors, image_ids: NDArray[np.object_], count: int, kinds: tuple[str, ...]
) -> tuple[pd.DataFrame, Vectors]:
    chosen = image_ids[spaced_indices(len(image_ids), count)]
    kept = (rows["image_id"].isin(chosen) & rows["kind"].isin(kinds)).to_numpy()
    return rows[kept], vectors[kept]


def _draw_space(axes: Axes, rows: pd.DataFrame, vectors: Vectors, numbered: bool) -> None:
    placed = rows.assign(**dict(zip("xy", project(vectors).T, strict=True)))
    images = placed[placed["kind"] == "image"].set_index("image_id")
    sentences = placed[placed["kind"] == "sentence"]
    for _, sentence in sentences.iterrows():
        image = images.loc[sentence["image_id"]]
        axes.plot([image["x"], sentence["x"]], [image["y"], sentence["y"]], color="#cccccc", linewidth=0.6, zorder=0)
    for kind, style in STYLES.items():
        of_kind = placed[placed["kind"] == kind]
        if len(of_kind):
            axes.scatter(of_kind["x"], of_kind["y"], label=f"{kind}s ({len(of_kind)})", **style)
    if numbered:
        for number, (_, image) in enumerate(images.iterrows()):
            axes.annotate(str(number + 1), (image["x"], image["y"]), fontsize=7)
    axes.set(xticks=[], yticks=[], title="images with their sentences" if numbered else "all four kinds")
    axes.legend(loc="best", fontsize=8)


def draw_nearest_phrases(embeddings: str, images: str, sources: Mapping[str, str], title: str, path: str) -> None:
    """Draws the best detection of images evenly spaced in their table, each with its nearest phrases.

    `embeddings` is an EMBEDDINGS artifact, `images` the data set's table. A phrase of the image itself is green.
    """
    store = FeatureStore([embeddings], EMBEDDINGS)
    rows = store.rows
    best = np.flatnonzero((rows["kind"] == "region") & (rows["rank"] == 1))
    phrases = np.flatnonzero(rows["kind"] == "phrase")
    vectors = store.gather(phrases).astype(np.float32)
    photograph = photographs(images, sources)
    chosen = best[spaced_indices(len(best), _REGIONS)]
    figure, axes = picture_grid(len(chosen), title)
    for place, number in zip(axes, chosen, strict=False):
        region = rows.iloc[number]
        draw_picture(place, photograph(region["image_id"]))
        vector = store.gather([number])[0].astype(np.float32)
        _draw_nearest(place, region, nearest_phrases(vector, rows.iloc[phrases], vectors))
    save_figure(figure, path, _NEAREST)


def nearest_phrases(region: Vectors, rows: pd.DataFrame, vectors: Vectors) -> pd.DataFrame:
    """The nearest phrases of a region, best first, each wording once (lower case): rows with their `score`."""
    scored = rows.assign(score=vectors @ region, wording=rows["text"].str.lower())
    ranked = scored.sort_values("score", ascending=False, kind="stable")
    return ranked.drop_duplicates("wording").head(PHRASES)


def _draw_nearest(axes: Axes, region: pd.Series, found: pd.DataFrame) -> None:
    corner = (float(region["x"]), float(region["y"]))
    size = (float(region["width"]), float(region["height"]))
    axes.add_patch(Rectangle(corner, *size, fill=False, color=BOX_COLOR, lw=2.5))
    for number, (_, phrase) in enumerate(found.iterrows()):
        axes.text(
            0,
            -0.03 - 0.07 * number,
            f"({number + 1}) {shorten_text(phrase['text'], 38)}",
            color=RIGHT_COLOUR if phrase["image_id"] == region["image_id"] else QUIET,
            fontsize=9,
            va="top",
            transform=axes.transAxes,
            parse_math=False,
        )
