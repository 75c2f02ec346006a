"""The folds of a data set's training images, and the scores of concepts that are put together from them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from densevse.artifacts.matrices import write_matrix
from densevse.artifacts.schemas.datasets import IMAGES
from densevse.artifacts.schemas.features import IMAGE_FEATURES
from densevse.artifacts.schemas.sentences import IMAGE_CONCEPTS
from densevse.evaluation.average_precision import weighted_average_precisions
from densevse.report.rendering import Document, Sheet, TableColumn, number, number_range
from densevse.statistics.bootstrap import jackknife_interval, jackknife_weights
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.files import write_text
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.store import FeatureStore

ALL, OTHERS, GAIN = "all", "others", "all - others"
_METRIC = "mean_average_precision"
PRECISION = Schema(
    "cross_fitting_precision",
    "a way to score the concepts of a split's images",
    (
        Column("split", TEXT, "train or val"),
        Column(
            "scored_by",
            TEXT,
            "all: the head that was trained on all training images; others: heads that were trained without the image; "
            "all - others: the former less the latter, paired",
        ),
        Column("images", NUMBER, "how many images are scored"),
        Column("concepts", NUMBER, "how many concepts the mean is over: those of enough images of val"),
        Column(_METRIC, REAL, "the mean average precision, from 0 to 1"),
        *(Column(f"{_METRIC}_{end}", REAL, f"{end} end of its 95% interval") for end in ("low", "high")),
    ),
)

FEWEST = 10
"""The fewest positives of a concept on val, as average precision on fewer is mostly chance."""
GROUPS = 200
"""The most groups of a jackknife. One for each family of all training images would take an hour."""
_COLUMNS = (TableColumn("scores of concepts", number=False), *map(TableColumn, ("images", "mAP", "95%")))
_TITLES = {
    ("train", ALL): "training images, by the head that was trained on them",
    ("train", OTHERS): "training images, by heads that were trained without them",
    ("train", GAIN): "the former less the latter",
    ("val", ALL): "val images",
}


def assign_folds(images: pd.DataFrame, folds: int) -> NDArray[np.intp]:
    """(images,) the fold of each training image in IMAGES rows, from 0; -1 for other images.

    Images of one family share a fold. Raises `InputError` if there are fewer families than folds.
    """
    train = ((images["split"] == "train") & (images["status"] == "ok")).to_numpy()
    families = pd.factorize(images["family"][train])[0]
    if len(families) == 0 or families.max() + 1 < folds:
        raise InputError(
            f"cross_fitting: {folds} folds, but the training images are of fewer families; ask for fewer folds."
        )
    found = np.full(len(images), -1, np.intp)
    found[train] = families % folds
    return found


def write_fold(images: str, folds: int, output: str, wildcards: Mapping[str, str]) -> None:
    """The job that writes the IMAGES rows of a data set without the training images of a fold.

    Raises `InputError` as `assign_folds` does.
    """
    rows, fold = schema.read(images, IMAGES), int(wildcards["fold"])
    kept = rows[assign_folds(rows, folds) != fold]
    schema.write(kept, IMAGES, output)


def cross_fit(
    images: str,
    image_concepts: str,
    of_all: Sequence[str],
    of_folds: Sequence[str],
    folds: int,
    scores: str,
    ids: str,
    precision: str,
) -> None:
    """The job that puts scores of concepts together, and writes PRECISION.

    `of_all` are the shards of the view `concepts` by the head of all training images, and `of_folds` those by the heads
    of the folds, fold after fold. A training image has the `scores` (images, K) of its fold's head, every other image
    those of the head of all; `ids` has a line for each image. Raises `InputError` as `assign_folds` does.
    """
    store, table = FeatureStore(of_all, IMAGE_FEATURES), schema.read(images, IMAGES)
    # A fold depends on the order of the table, in which `write_fold` reads it; shards may have another order.
    table = table.assign(fold=assign_folds(table, folds)).set_index("image_id", drop=False)
    rows = table.loc[store.rows["image_id"]]
    fold = rows["fold"].to_numpy()
    in_sample = store.gather(np.arange(len(rows))).astype(np.float32)
    found = in_sample.copy()
    shards_of = [part.tolist() for part in np.array_split(np.array(of_folds), folds)]
    for held_out, shards in enumerate(shards_of):
        of_fold, unseen = FeatureStore(shards, IMAGE_FEATURES), fold == held_out
        found[unseen] = of_fold.gather(pd.Index(of_fold.rows["image_id"]).get_indexer(rows["image_id"][unseen]))
    write_matrix(found, scores)
    write_text("".join(f"{name}\n" for name in rows["image_id"]), ids)
    present = _concept_presence(image_concepts, rows["image_id"], found.shape[1])
    schema.write(_precisions(rows, present, {ALL: in_sample, OTHERS: found}), PRECISION, precision)


def write_cross_fitting_table(
    precision: Sequence[str], title: str, networks: Sequence[str], markdown: str, html: str, latex: str
) -> None:
    """The job that writes the table of the PRECISION of each concept network; `title` is the data set's."""
    measured = [schema.read(path, PRECISION) for path in precision]
    sheets = [
        Sheet(network, _COLUMNS, [_cells(row) for row in rows.to_dict("records")])
        for network, rows in zip(networks, measured, strict=True)
    ]
    notes = [
        f"mAP: mean average precision in percent, over the {measured[0]['concepts'].iloc[0]} concepts that {FEWEST} or "
        "more val images have. On few images average precision is slightly higher than on many.",
        f"95%: by a jackknife that leaves out one of at most {GROUPS} groups of families of images.",
    ]
    Document(f"Cross-fitted concepts of {title}", sheets, notes).write(markdown, html, latex)


def _cells(row: Mapping[Any, Any]) -> list[str]:
    sign = "+" if row["scored_by"] == GAIN else ""
    ends = (100 * row[f"{_METRIC}_{end}"] for end in ("low", "high"))
    title = _TITLES[row["split"], row["scored_by"]]
    return [title, f"{row['images']:,}", number(100 * row[_METRIC], sign=sign), number_range(ends, sign=sign)]


def _concept_presence(image_concepts: str, image_ids: pd.Series, concepts: int) -> NDArray[np.bool_]:
    """(images, K) true where an image has a concept."""
    found = np.zeros((len(image_ids), concepts), bool)
    of_images = schema.read(image_concepts, IMAGE_CONCEPTS).set_index("image_id")["concepts"]
    for row, numbers in enumerate(of_images.loc[image_ids]):
        found[row, np.asarray(numbers, np.intp)] = True
    return found


def _precisions(
    images: pd.DataFrame, present: NDArray[np.bool_], scores: Mapping[str, NDArray[np.float32]]
) -> list[dict[str, Any]]:
    """The PRECISION rows of scores (images, K) by all and by others. Raises `InputError` if val has no concept."""
    enough = present[(images["split"] == "val").to_numpy()].sum(axis=0) >= FEWEST
    if not enough.any():
        raise InputError(f"cross_fitting: no concept has {FEWEST} or more val images; a larger data set is needed.")
    train, val = (_Measured(images, split, present[:, enough]) for split in ("train", "val"))
    by_all, by_others = (train.mean_precisions(scores[by][:, enough]) for by in (ALL, OTHERS))
    return [
        train.row(ALL, by_all),
        train.row(OTHERS, by_others),
        train.row(GAIN, by_all - by_others),
        val.row(ALL, val.mean_precisions(scores[ALL][:, enough])),
    ]


class _Measured:
    """The images of a split, with the sets of them that a jackknife leaves."""

    def __init__(self, images: pd.DataFrame, split: str, present: NDArray[np.bool_]) -> None:
        self.split, self.chosen = split, (images["split"] == split).to_numpy()
        self.present = present[self.chosen]
        self.sets = jackknife_weights(pd.factorize(images["family"][self.chosen])[0] % GROUPS)

    def mean_precisions(self, scores: NDArray[np.float32]) -> NDArray[np.float64]:
        """(1 + groups,) mean average precisions: of all images, and without each group."""
        found = weighted_average_precisions(scores[self.chosen], self.present, self.sets)
        return np.nanmean(found, axis=1)  # type: ignore[no-any-return]

    def row(self, scored_by: str, values: NDArray[np.float64]) -> dict[str, Any]:
        """The PRECISION row of these values."""
        ends, sizes = jackknife_interval(values), dict(zip(("images", "concepts"), self.present.shape, strict=True))
        low_and_high = {f"{_METRIC}_low": ends.low, f"{_METRIC}_high": ends.high}
        return {"split": self.split, "scored_by": scored_by, **sizes, _METRIC: float(values[0]), **low_and_high}
