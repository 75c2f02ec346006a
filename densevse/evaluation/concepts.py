"""How well a concept network tells the concepts of images: AVERAGE_PRECISION rows, and the table of concepts."""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.concepts import AVERAGE_PRECISION
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.vocabulary import CONCEPTS, IMAGE_CONCEPTS
from densevse.artifacts.store import FeatureStore
from densevse.errors import InputError
from densevse.evaluation.average_precision import average_precisions
from densevse.evaluation.rendering import Column, Document, Sheet, number

FEWEST = 10
"""Positives of a concept whose average precision is told in the table: below, it is mostly chance."""
SHOWN = 40
COLUMNS = {"concepts": "average_precision", "concepts_whole": "average_precision_whole"}


def write_average_precision(tables: Mapping[str, str], scores: Mapping[str, Sequence[str]], path: str) -> None:
    """Write the AVERAGE_PRECISION of every concept on val and test.

    `tables` are the paths of images, concepts and image_concepts; `scores` has the shards of the views `concepts` and
    `concepts_whole`. Raises `InputError` if the scores are of another vocabulary, or naming an image without scores.
    """
    concepts = schema.read(tables["concepts"], CONCEPTS)
    images = schema.read(tables["images"], IMAGES, ["image_id", "split", "status"])
    labels = schema.read(tables["image_concepts"], IMAGE_CONCEPTS).set_index("image_id")["concepts"]
    stores = {view: FeatureStore(shards, IMAGE_FEATURES) for view, shards in scores.items()}
    for view, store in stores.items():
        if store.shape != (len(concepts),):
            raise InputError(f"{view}: scores of {store.shape[0]} concepts, expected {len(concepts)}; make them anew.")
    rows = [
        _of_split(split, concepts, _present(images, labels, split, len(concepts)), stores) for split in ("val", "test")
    ]
    parents = {**tables, **{view: list(shards) for view, shards in scores.items()}}
    schema.write(pd.concat(rows, ignore_index=True), AVERAGE_PRECISION, path, lineage({}, parents))


def _present(images: pd.DataFrame, labels: pd.Series, split: str, concepts: int) -> pd.DataFrame:
    """Which concepts the readable images of a split have, a column for each."""
    ids = images.loc[(images["split"] == split) & (images["status"] == "ok"), "image_id"]
    present = np.zeros((len(ids), concepts), bool)
    for row, numbers in enumerate(labels.reindex(ids)):
        present[row, np.asarray(numbers, np.int64)] = True
    return pd.DataFrame(present, index=pd.Index(ids))


def _of_split(
    split: str, concepts: pd.DataFrame, present: pd.DataFrame, stores: Mapping[str, FeatureStore]
) -> pd.DataFrame:
    labels = present.to_numpy()
    found = {
        COLUMNS[view]: average_precisions(_scores(store, present.index, view), labels) for view, store in stores.items()
    }
    rows = concepts[["index", "concept", "kind"]].assign(
        split=split,
        training_images=concepts["image_count"],
        images=labels.sum(axis=0),
        frequency=labels.mean(axis=0) if len(labels) else 0.0,
        **found,
    )
    return rows.astype(dict.fromkeys(found, "Float64"))


def _scores(store: FeatureStore, images: pd.Index, view: str) -> NDArray[np.float32]:
    number = pd.Index(store.rows["image_id"]).get_indexer(images)
    if (number < 0).any():
        raise InputError(f"{view}: image {images[int(number.argmin())]!r} has no concept scores; make them anew.")
    return store.gather(number).astype(np.float32)


def table(title: str, concepts: pd.DataFrame, precision: pd.DataFrame) -> Document:
    """The vocabulary of a data set and how well its concepts are told; rows of CONCEPTS and AVERAGE_PRECISION."""
    kinds = ", ".join(f"{count} {kind}s" for kind, count in concepts["kind"].value_counts().items())
    test = precision.loc[precision["split"] == "test", ["index", "images", *COLUMNS.values()]]
    names = ("words", "training images", "test images", "average precision", "of the whole image")
    cells = [
        [
            *(row["concept"], row["kind"]),
            *(f"{row[count]:,}" for count in ("count", "image_count", "images")),
            *(number(100 * row[column]) for column in COLUMNS.values()),
        ]
        for row in concepts.head(SHOWN).merge(test, on="index").to_dict("records")
    ]
    columns = (Column("concept", number=False), Column("kind", number=False), *map(Column, names))
    heading = f"{len(concepts)} concepts: {kinds}; the {len(cells)} most frequent"
    notes = [_summary(split, precision[precision["split"] == split]) for split in ("val", "test")]
    notes.append("Words: how often the training sentences have it; precision in percent.")
    return Document(f"Concepts of {title}", [Sheet(heading, columns, cells)], notes)


def _summary(split: str, rows: pd.DataFrame) -> str:
    """The means over concepts with enough positives."""
    enough = rows[rows["images"] >= FEWEST]
    if enough.empty:
        return f"On {split} no concept has {FEWEST} or more images."
    means = {column: number(100 * float(enough[column].mean())) for column in (*COLUMNS.values(), "frequency")}
    return (
        f"On {split}, over the {len(enough)} concepts with {FEWEST} or more images: mean average precision "
        f"{means['average_precision']} by the best region and {means['average_precision_whole']} by the whole image; "
        f"mean frequency {means['frequency']}, which is what chance gives."
    )
