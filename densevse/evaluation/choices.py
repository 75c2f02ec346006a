"""Choices: beside an image stand its right sentence and wrong ones, and the right one must have the highest score.

Benchmarks of compositionality ask so: ARO (Yuksekgonul et al., ICLR 2023), SugarCrepe (Hsieh et al., NeurIPS 2023) and
Winoground (Thrush et al., CVPR 2022). A model that ignores the order of words gives equal scores to sentences of the
same words, and the first of equal ones must not count as its choice: a question counts 1 / (number of the tied best) if
its right sentence is among these. Sums of the same terms in another order differ in their last bits, so scores are tied
within `TOLERANCE` of the larger of the best score and the sum of its terms' sizes.

Wrong sentences may be told by their words alone. So each choice is also made blind, beside other images, and what the
picture decides is the difference of the two.
"""

from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from densevse.evaluation.relevance import MeanBootstrap
from densevse.runtime.arrays import Indices, Reals
from snakeproof.errors import InputError
from snakeproof.schema import REALS, TEXT, TEXTS, Column, Rule, Schema, arrow_table, check_rules

TOLERANCE = 1e-6
BLIND_IMAGES = 8
"""The other images beside which a blind choice is made, whose scores are averaged."""
GROUP_SCORES = ("text", "image", "both")
ENDS = ("", "_low", "_high")
EVERY = "all"
"""The name of the questions of all categories together."""
_NO_PAIRS: Indices = np.empty((0, 2), np.int64)


def _find_wrong_questions(rows: pd.DataFrame) -> dict[str, NDArray[np.bool_]]:
    """A rule of artifacts."""
    texts = [[right, *wrong] for right, wrong in zip(rows["right"], rows["wrong"], strict=True)]
    families = rows.groupby("image")["family"].transform("nunique")
    return {
        "it has no wrong sentence; add one, or leave the question out": np.array([len(one) < 2 for one in texts]),
        "a sentence is empty; write it": np.array([not all(text and text.strip() for text in one) for one in texts]),
        "a wrong sentence is the right one; remove it": np.array([one[0] in one[1:] for one in texts]),
        "another question has this name; give each its own": rows["question"].duplicated().to_numpy(),
        "its image is in another family too; a bootstrap draws families": (families > 1).to_numpy(),
        f"its category is {EVERY}, which names all categories together; rename it": (
            (rows["category"] == EVERY) & (rows["category"].nunique() > 1)
        ).to_numpy(),
    }


CHOICES = Schema(
    "choices",
    "a question: which sentence is right of an image",
    (
        Column("question", TEXT, "the name of the question"),
        Column("image", TEXT, "the image, unique in its data set"),
        Column("right", TEXT, "the right sentence"),
        Column("wrong", TEXTS, "the wrong sentences, one or more"),
        Column("category", TEXT, "the kind of the wrong sentences"),
        Column("family", TEXT, "images that are variations of each other share it, as the two rows of Winoground do"),
    ),
    rules=(Rule(_find_wrong_questions),),
)

CHOICE_SCORES = Schema(
    "choice_scores",
    "a question with the scores of its sentences, the right one first",
    (
        Column("question", TEXT, "the name of the question"),
        Column("scores", REALS, "the scores beside its image; higher is closer"),
        Column("sizes", REALS, "the sums of the sizes of the terms of these scores"),
        Column("blind_scores", REALS, "the mean scores beside other images"),
        Column("blind_sizes", REALS, "the sums of the sizes of the terms of these"),
    ),
)


class ChoiceScores(NamedTuple):
    """The scores of the sentences of Q questions: column 0 is right, and NaN is behind the last."""

    scores: Reals  # (Q, 1 + most wrong)
    sizes: Reals  # of the same shape: sums of the sizes of each score's terms, 0 where they are not known

    @classmethod
    def from_lists(cls, scores: Sequence[Sequence[float]], sizes: Sequence[Sequence[float]]) -> "ChoiceScores":
        """From the scores of each question, of which some have more."""
        return cls(*(pad_rows(rows) for rows in (scores, sizes)))

    def tied_choices(self) -> NDArray[np.bool_]:
        """(Q, 1 + most wrong) the sentences whose score is the best, or tied with it."""
        best = np.nanargmax(self.scores, axis=1)[:, None]
        top, size = (np.take_along_axis(values, best, axis=1) for values in self)
        return self.scores >= top - TOLERANCE * np.maximum(np.abs(top), size)

    def take(self, rows: Indices) -> "ChoiceScores":
        """Those of some questions."""
        return ChoiceScores(self.scores[rows], self.sizes[rows])

    def ties(self) -> int:
        """The number of questions with several best sentences."""
        return int((self.tied_choices().sum(axis=1) > 1).sum())

    def credits(self) -> Reals:
        """(Q,) what each question counts, from 0 to 1."""
        tied = self.tied_choices()
        counts: Reals = tied[:, 0] / tied.sum(axis=1)
        return counts


class Choices(NamedTuple):
    """The choices of one model: beside the images of the questions, and blind."""

    beside: ChoiceScores
    blind: ChoiceScores | None = None


def read_choices(path: str | Path) -> pd.DataFrame:
    """The CHOICES rows of a user's Parquet file.

    Without `category` all are of one; without `family` each image has its own. Raises `InputError` that names the wrong
    column or row.
    """
    names = [column.name for column in CHOICES.columns]
    try:
        found = pq.read_table(path)
        if missing := [name for name in names[:4] if name not in found.column_names]:
            raise InputError(f"{path}: no column {missing[0]}; choices have {', '.join(names)}.")
        defaults = {"category": pa.array([EVERY] * len(found), TEXT), "family": found["image"]}
        for name in defaults.keys() - {*found.column_names}:
            found = found.append_column(name, defaults[name])
        nullable = pa.schema([field.with_nullable(True) for field in CHOICES.arrow])
        rows: pd.DataFrame = found.select(names).cast(nullable).to_pandas()
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(
            f"{path}: not readable as choices ({error}); write text, and lists of texts as wrong."
        ) from error
    if rows.empty:
        raise InputError(f"{path}: there is no question.")
    arrow_table(rows, CHOICES, path)
    check_rules(rows, CHOICES, path)
    return rows


def pad_rows(rows: Sequence[Sequence[float]]) -> Reals:
    """(Q, longest) the numbers of each row, with NaN behind."""
    padded = np.full((len(rows), max(map(len, rows))), np.nan)
    for place, row in zip(padded, rows, strict=True):
        place[: len(row)] = row
    return padded


def draw_others(captions: pd.DataFrame, family: Mapping[str, str], seed: int) -> dict[str, list[str]]:
    """Image -> the images beside which its blind choices are made: `BLIND_IMAGES`, or all if fewer fit.

    `captions` has image and text, and `family` that of each image, of which some may have no caption. None of an
    image's others has a caption of it, or is of its family.
    """
    texts = captions["text"].str.casefold().str.split().str.join(" ")
    said = {str(image): frozenset(some) for image, some in texts.groupby(captions["image"], sort=False)}
    said |= {image: frozenset() for image in family if image not in said}
    names, found = [*said], {}
    for number, image in enumerate(names):
        order = map(names.__getitem__, np.random.default_rng([seed, number]).permutation(len(names)).tolist())
        fit = (name for name in order if family[name] != family[image] and said[image].isdisjoint(said[name]))
        found[image] = [*islice(fit, BLIND_IMAGES)]
    return found


def winoground_pairs(questions: pd.DataFrame) -> Indices:
    """(pairs, 2) the rows of two questions of one family, of other images, each with the other's right as its wrong."""
    found = [
        rows
        for rows in questions.groupby("family", sort=False).indices.values()
        if len(rows) == 2 and _are_exchanged(questions.iloc[rows[0]], questions.iloc[rows[1]])
    ]
    return np.array(found, np.int64).reshape(-1, 2)


def _are_exchanged(one: pd.Series, other: pd.Series) -> bool:
    crossed = [*one["wrong"], *other["wrong"]] == [other["right"], one["right"]]
    return bool(crossed and one["image"] != other["image"])


def group_credits(found: ChoiceScores, pairs: Indices) -> dict[str, Reals]:
    """(pairs,) 1 or 0 of Winoground's three scores (Thrush et al., Eqs 1 to 3), in which a tie is wrong.

    Text: each image is closer to its own sentence. Image: each sentence is closer to its own image. Both: all four.
    """
    one, other = pairs.T

    def is_closer(rows: Indices, others: Indices) -> NDArray[np.bool_]:
        """True if the right sentence of `rows` scores higher than the wrong one of `others`."""
        of = [(values[rows, 0], values[others, 1]) for values in found]
        larger = np.maximum(np.abs(np.maximum(*of[0])), np.maximum(*of[1]))
        closer: NDArray[np.bool_] = of[0][0] - of[0][1] > TOLERANCE * larger
        return closer

    text = is_closer(one, one) & is_closer(other, other)
    image = is_closer(one, other) & is_closer(other, one)
    return dict(zip(GROUP_SCORES, (found.astype(float) for found in (text, image, text & image)), strict=True))


def measure_choices(questions: pd.DataFrame, seeds: Sequence[Choices]) -> pd.DataFrame:
    """A row of metrics in percent for all CHOICES rows, and for each category if there are several.

    They are means over `seeds`, one for each training. Columns: category, questions, images, chance; choice, blind and
    difference, with the ends of their 95% intervals (<name>_low, <name>_high), drawn by family; ties and blind_ties,
    which are numbers of questions; beats_chance_blind; and text, image and both, of questions that are Winoground's
    pairs. What is not known is NaN.
    """
    parts = _category_rows(questions)
    return pd.DataFrame([{"category": name, **_measure_some(questions, seeds, rows)} for name, rows in parts])


def compare_choices(questions: pd.DataFrame, seeds: Sequence[Choices], reference: Sequence[Choices]) -> pd.DataFrame:
    """How much more of its choices the picture decides than of those of a reference, in points.

    A row has the gain of the difference between choice and blind choice, a mean over seeds, which are paired, and its
    95% interval: category (as of `measure_choices`), gain, gain_low, gain_high. All have blind choices. What has no
    training has one, which is compared with each seed of the other.
    """
    family, most = pd.factorize(questions["family"])[0], max(len(seeds), len(reference))
    seeds, reference = ([*some] * most if len(some) == 1 else some for some in (seeds, reference))
    gains = [
        _credits(own)["difference"] - _credits(other)["difference"] for own, other in zip(seeds, reference, strict=True)
    ]
    parts = []
    for name, rows in _category_rows(questions):
        drawn = MeanBootstrap({"gain": pd.factorize(family[rows])[0]}, {"gain": (-200.0, 200.0)})
        parts.append({"category": name, **drawn.means_and_intervals([{"gain": gain[rows]} for gain in gains])})
    return pd.DataFrame(parts)


def _category_rows(questions: pd.DataFrame) -> list[tuple[str, Indices]]:
    """The rows of all questions, and of each category if there are several."""
    rows_of = questions.groupby("category", sort=False).indices
    return [(EVERY, np.arange(len(questions))), *(rows_of.items() if len(rows_of) > 1 else ())]


def flatten_choices(rows: pd.DataFrame) -> dict[str, float]:
    """The known metrics of `measure_choices` by name; those of a category begin with it, as `colour_choice`."""
    found: dict[str, float] = {}
    for number, row in enumerate(rows.drop(columns="beats_chance_blind").to_dict("records")):
        category = row.pop("category")
        begin = f"{category}_" if number else ""
        known = [str(name).removesuffix("_low").removesuffix("_high") for name in row]
        found |= {f"{begin}{name}": row[name] for name, metric in zip(row, known, strict=True) if pd.notna(row[metric])}
    return found


def _measure_some(questions: pd.DataFrame, seeds: Sequence[Choices], rows: Indices) -> dict[str, float]:
    asked = questions.iloc[rows]
    family, pairs = pd.factorize(asked["family"])[0], winoground_pairs(asked)
    pairs = pairs if 2 * len(pairs) == len(asked) else pairs[:0]
    runs = [Choices(one.beside.take(rows), one.blind and one.blind.take(rows)) for one in seeds]
    values = [_credits(run, pairs) for run in runs]
    group = {name: family[pairs[:, 0]] if name in GROUP_SCORES else family for name in values[0]}
    found = MeanBootstrap(group, {"difference": (-100.0, 100.0)}).means_and_intervals(values)
    chance = 100 * float((1 / (1 + asked["wrong"].str.len())).mean())
    return {
        "questions": len(asked),
        "images": asked["image"].nunique(),
        "chance": chance,
        **dict.fromkeys((f"{name}{end}" for name in ("choice", "blind", "difference") for end in ENDS), np.nan),
        **found,
        "ties": float(np.mean([run.beside.ties() for run in runs])),
        "blind_ties": float(np.mean([run.blind.ties() if run.blind else np.nan for run in runs])),
        "beats_chance_blind": found.get("blind_low", np.nan) > chance + TOLERANCE,  # means are rounded
    }


def _credits(run: Choices, pairs: Indices = _NO_PAIRS) -> dict[str, Reals]:
    """Metric -> the credit of each question, and of each pair of questions if there are pairs."""
    found = {"choice": run.beside.credits()}
    if run.blind:
        found["blind"] = run.blind.credits()
        found["difference"] = found["choice"] - found["blind"]
    return found | (group_credits(run.beside, pairs) if len(pairs) else {})
