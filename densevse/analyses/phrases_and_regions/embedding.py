"""Draws the common space in two dimensions: images with sentences, and all four kinds together (HM-LSTM, Fig 8)."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray
from sklearn.manifold import TSNE

from densevse.artifacts.schemas.embeddings import EMBEDDINGS
from densevse.artifacts.store import FeatureStore
from densevse.report.saving import save
from densevse.runtime.spacing import evenly_spaced

Vectors = NDArray[np.float32]
STYLES: dict[str, dict[str, Any]] = {
    "image": {"color": "#d93025", "marker": "s", "s": 34, "zorder": 3},
    "sentence": {"color": "#1967d2", "marker": "o", "s": 10, "zorder": 2},
    "region": {"color": "#f29900", "marker": "^", "s": 12, "zorder": 1},
    "phrase": {"color": "#188038", "marker": ".", "s": 12, "zorder": 1},
}
_IMAGES, IMAGES_OF_ALL_KINDS = 60, 20


def embedding(embeddings: str, title: str, path: str) -> None:
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
    _draw(left, *_of_images(rows, vectors, image_ids, _IMAGES, ("image", "sentence")), numbered=True)
    _draw(right, *_of_images(rows, vectors, image_ids, IMAGES_OF_ALL_KINDS, tuple(STYLES)), numbered=False)
    save(figure, path)


def project(vectors: Vectors) -> NDArray[np.float64]:
    """(n, 2) t-SNE of cosine distances; the same vectors give the same result."""
    perplexity = min(30, (len(vectors) - 1) / 3)
    made: NDArray[np.float64] = TSNE(
        perplexity=perplexity, metric="cosine", init="random", random_state=0, n_jobs=1
    ).fit_transform(vectors)
    return made


def _of_images(
    rows: pd.DataFrame, vectors: Vectors, image_ids: NDArray[np.object_], count: int, kinds: tuple[str, ...]
) -> tuple[pd.DataFrame, Vectors]:
    chosen = image_ids[evenly_spaced(len(image_ids), count)]
    kept = (rows["image_id"].isin(chosen) & rows["kind"].isin(kinds)).to_numpy()
    return rows[kept], vectors[kept]


def _draw(axes: Axes, rows: pd.DataFrame, vectors: Vectors, numbered: bool) -> None:
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
