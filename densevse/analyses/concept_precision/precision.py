"""A concept network's average precision on images, the table of concepts, and a picture of them (SCO, Figure 5)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from numpy.typing import NDArray

from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import CONCEPTS, IMAGE_CONCEPTS
from densevse.evaluation.average_precision import average_precisions, weighted_average_precisions
from densevse.report.figures import QUIET, RIGHT_COLOUR, draw_picture, picture_grid, save_figure
from densevse.report.pictures import photographs
from densevse.report.rendering import Document, Sheet, TableColumn, number, number_range
from densevse.runtime.arrays import spaced_indices
from densevse.statistics.bootstrap import jackknife_interval, jackknife_weights
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.store import FeatureStore

AVERAGE_PRECISION = Schema(
    "average_precision",
    "a concept on a split",
    (
        Column("split", TEXT, "val or test"),
        Column("index", NUMBER, "the concept's number in concepts.parquet"),
        Column("concept", TEXT, "its lemma, lower case"),
        Column("kind", TEXT, "noun, adjective, verb or number"),
        Column("training_images", NUMBER, "how many training images have a sentence with it"),
        Column("images", NUMBER, "how many of the split's images have a sentence with it"),
        Column("frequency", REAL, "their share: the average precision of ranking by chance"),
        Column("average_precision", REAL, "by the best region of an image; null where no image has it", nullable=True),
        Column("average_precision_whole", REAL, "by the whole image alone; null where no image has it", nullable=True),
    ),
)

MEAN_AVERAGE_PRECISION = Schema(
    "mean_average_precision",
    "a split",
    (
        Column("split", TEXT, "val or test"),
        Column("concepts", NUMBER, "how many concepts the means are over: those of enough of the split's images"),
        Column("frequency", REAL, "mean frequency of the concepts: what ranking by chance gives", nullable=True),
        *(
            Column(f"{metric}{end}", REAL, f"{meaning}{of}; null without any such concept", nullable=True)
            for metric, meaning in (
                ("best_region", "mean average precision by the best region of an image"),
                ("whole_image", "mean average precision by the whole image alone"),
                ("gain", "the former less the latter"),
            )
            for end, of in (
                ("", ""),
                ("_low", ", low end of the 95% interval, by a jackknife over families of images"),
                ("_high", ", high end of it"),
            )
        ),
    ),
)

FEWEST = 10
"""The fewest positives of a concept in the table, as average precision on fewer is mostly chance."""
_SHOWN = 40
_DRAWN, _DRAWN_CONCEPTS = 8, 10
_BAR = 0.35  # of a picture's width, for a score of 1
PRECISION_INTERVALS = (
    "In brackets 95% intervals by a jackknife over families of images; that of the gain is paired. They are for splits "
    "of this size: on few images average precision is slightly higher than on many."
)
_BEST = "concepts"
_VIEWS = {_BEST: "average_precision", "concepts_whole": "average_precision_whole"}
"""The column of AVERAGE_PRECISION for each view."""


@dataclass(frozen=True)
class _Split:
    """A split's readable images, with their concepts and the scores of a concept network."""

    name: str
    present: NDArray[np.bool_]  # (images, concepts)
    scores: Mapping[str, NDArray[np.float32]]  # view -> (images, concepts)
    family: NDArray[np.intp]  # (images,) number of the image's family


def write_average_precision(
    images: str,
    concepts: str,
    image_concepts: str,
    best_region: Sequence[str],
    whole_image: Sequence[str],
    each: str,
    mean: str,
) -> None:
    """The job that writes precision on val and test: AVERAGE_PRECISION of `each` concept, and MEAN_AVERAGE_PRECISION.

    `best_region` and `whole_image` are the shards of the views `concepts` and `concepts_whole`. Raises `InputError` if
    the scores are of another vocabulary, or if an image has none.
    """
    vocabulary = schema.read(concepts, CONCEPTS)
    rows = schema.read(images, IMAGES, ["image_id", "split", "status", "family"])
    labels = schema.read(image_concepts, IMAGE_CONCEPTS).set_index("image_id")["concepts"]
    scores = zip(_VIEWS, (best_region, whole_image), strict=True)
    stores = {view: FeatureStore(shards, IMAGE_FEATURES) for view, shards in scores}
    for view, store in stores.items():
        if store.shape != (len(vocabulary),):
            raise InputError(
                f"{view}: scores of {store.shape[0]} concepts, expected {len(vocabulary)}; delete them and run "
                "snakemake again."
            )
    readable = rows[rows["status"] == "ok"]
    splits = [_split(name, readable[readable["split"] == name], labels, stores) for name in ("val", "test")]
    of_concepts = pd.concat([_precision_rows(split, vocabulary) for split in splits], ignore_index=True)
    schema.write(of_concepts, AVERAGE_PRECISION, each)
    schema.write([_mean_row(split) for split in splits], MEAN_AVERAGE_PRECISION, mean)


def _split(name: str, images: pd.DataFrame, labels: pd.Series, stores: Mapping[str, FeatureStore]) -> _Split:
    present = np.zeros((len(images), *stores[_BEST].shape), bool)
    for row, numbers in enumerate(labels.reindex(images["image_id"])):
        present[row, np.asarray(numbers, np.int64)] = True
    scores = {view: _read_scores(store, images["image_id"], view) for view, store in stores.items()}
    return _Split(name, present, scores, pd.factorize(images["family"])[0])


def _read_scores(store: FeatureStore, images: pd.Series, view: str) -> NDArray[np.float32]:
    number = pd.Index(store.rows["image_id"]).get_indexer(images)
    if (number < 0).any():
        raise InputError(
            f"{view}: image {images.iloc[number.argmin()]!r} has no concept scores; delete them and run snakemake "
            "again."
        )
    return store.gather(number).astype(np.float32)


def _precision_rows(split: _Split, concepts: pd.DataFrame) -> pd.DataFrame:
    """The AVERAGE_PRECISION rows of a split."""
    present = split.present
    found = {_VIEWS[view]: average_precisions(scores, present) for view, scores in split.scores.items()}
    rows = concepts[["index", "concept", "kind"]].assign(
        split=split.name,
        training_images=concepts["image_count"],
        images=present.sum(axis=0),
        frequency=present.mean(axis=0) if len(present) else 0.0,
        **found,
    )
    return rows.astype(dict.fromkeys(found, "Float64"))


def _mean_row(split: _Split) -> dict[str, Any]:
    """The MEAN_AVERAGE_PRECISION row of a split."""
    enough = split.present.sum(axis=0) >= FEWEST
    row = {"split": split.name, "concepts": int(enough.sum())}
    if not enough.any():
        return row
    present = split.present[:, enough]
    # A jackknife leaves out families in turn. A bootstrap's repeated images would be neighbours in the ranking, which
    # for concepts of few images would count as much as a better network.
    sets = jackknife_weights(split.family)
    # For a set without any image of a concept, the mean is over the others.
    best, whole = (
        np.nanmean(weighted_average_precisions(split.scores[view][:, enough], present, sets), axis=1) for view in _VIEWS
    )
    for metric, values in {"best_region": best, "whole_image": whole, "gain": best - whole}.items():
        ends = jackknife_interval(values)
        row |= {metric: float(values[0]), f"{metric}_low": ends.low, f"{metric}_high": ends.high}
    return row | {"frequency": float(present.mean())}


def write_concept_table(
    concepts: str, precision: str, mean: str, title: str, markdown: str, html: str, latex: str
) -> None:
    """The job that writes the table of a data set's concept vocabulary and its average precisions.

    Its inputs are artifacts of CONCEPTS, AVERAGE_PRECISION and MEAN_AVERAGE_PRECISION; `title` is the data set's.
    """
    vocabulary, of_concepts = schema.read(concepts, CONCEPTS), schema.read(precision, AVERAGE_PRECISION)
    shown = _document(title, vocabulary, of_concepts, schema.read(mean, MEAN_AVERAGE_PRECISION))
    shown.write(markdown, html, latex)


def _document(title: str, concepts: pd.DataFrame, precision: pd.DataFrame, mean: pd.DataFrame) -> Document:
    kinds = ", ".join(f"{count} {kind}s" for kind, count in concepts["kind"].value_counts().items())
    test = precision.loc[precision["split"] == "test", ["index", "images", *_VIEWS.values()]]
    names = ("words", "training images", "test images", "average precision", "of the whole image")
    cells = [
        [
            *(row["concept"], row["kind"]),
            *(f"{row[count]:,}" for count in ("count", "image_count", "images")),
            *(number(100 * row[column]) for column in _VIEWS.values()),
        ]
        for row in concepts.head(_SHOWN).merge(test, on="index").to_dict("records")
    ]
    columns = (TableColumn("concept", number=False), TableColumn("kind", number=False), *map(TableColumn, names))
    heading = f"{len(concepts)} concepts: {kinds}; the {len(cells)} most frequent"
    notes = [_summary(row) for row in mean.to_dict("records")]
    notes += ["Words: occurrences in the training sentences; precision in percent.", PRECISION_INTERVALS]
    return Document(f"Concepts of {title}", [Sheet(heading, columns, cells)], notes)


def _summary(row: Mapping[Any, Any]) -> str:
    """A split's means over concepts with enough positives, in percent."""
    if not row["concepts"]:
        return f"On {row['split']} no concept has {FEWEST} or more images."
    best, whole, gain = (
        f"{number(100 * row[name], sign=sign)} ({number_range(100 * row[name + end] for end in ('_low', '_high'))})"
        for name, sign in {"best_region": "", "whole_image": "", "gain": "+"}.items()
    )
    return (
        f"On {row['split']}, over the {row['concepts']} concepts with {FEWEST} or more images: mean average precision "
        f"{best} by the best region and {whole} by the whole image, a gain of {gain}; "
        f"mean frequency {number(100 * row['frequency'])}, which is what chance gives."
    )


def draw_predicted_concepts(
    scores: Sequence[str],
    image_table: str,
    concepts: str,
    image_concepts: str,
    sources: Mapping[str, str],
    title: str,
    output: str,
) -> None:
    """The job that draws test images, evenly spaced in their table, each with the ten concepts that score highest.

    `scores` are the shards of the view `concepts`, `sources` the data set's files. Concepts that the image's own
    sentences name are green.
    """
    images = schema.read(image_table, IMAGES)
    test = images[(images["split"] == "test") & (images["status"] == "ok")]
    names = schema.read(concepts, CONCEPTS)["concept"].to_numpy(object)
    named = schema.read(image_concepts, IMAGE_CONCEPTS).set_index("image_id")["concepts"]
    store = FeatureStore(scores, IMAGE_FEATURES)
    photograph = photographs(image_table, sources)
    number = {image: row for row, image in enumerate(store.rows["image_id"])}
    chosen = test["image_id"].iloc[spaced_indices(len(test), _DRAWN)]
    figure, axes = picture_grid(len(chosen), title)
    for place, image_id in zip(axes, chosen, strict=False):
        draw_picture(place, photograph(image_id))
        _draw_concepts(place, store.gather([number[image_id]])[0].astype(np.float32), names, named[image_id])
    save_figure(
        figure, output, "The ten concepts that score highest. Green: the image's own sentences name the concept."
    )


def _draw_concepts(axes: Axes, scores: NDArray[np.float32], names: NDArray[np.object_], named: Sequence[int]) -> None:
    for line, concept in enumerate(np.argsort(-scores, kind="stable")[:_DRAWN_CONCEPTS]):
        height, color = -0.04 - 0.055 * line, RIGHT_COLOUR if concept in named else QUIET
        text = f"{names[concept]}  {scores[concept]:.2f}"
        axes.text(0, height, text, color=color, fontsize=9, va="center", transform=axes.transAxes, parse_math=False)
        ends = 0.5, 0.5 + _BAR * float(scores[concept])
        axes.plot(ends, (height, height), color=color, lw=4, transform=axes.transAxes, clip_on=False)
