"""The table of perplexity, from LIKELIHOODS artifacts."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from densevse.analyses.perplexity.plan import PerplexityPlan
from densevse.analyses.perplexity.schemas import LIKELIHOODS
from densevse.artifacts.families import read_families
from densevse.artifacts.index import ArtifactIndex
from densevse.report.columns import METHOD, variant_and_seeds
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.report.results import Outputs, write_table
from densevse.runtime.arrays import Reals
from densevse.statistics.bootstrap import TOO_FEW
from densevse.statistics.intervals import SumBootstrap, Sums
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import validate

PERPLEXITY = Schema(
    "perplexity",
    "a row of a table of perplexity",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        Column("images", NUMBER, "images with a sentence"),
        Column("sentences", NUMBER, "sentences of the split"),
        Column("predictions", NUMBER, "words that the decoder predicts, and ends of sentences"),
        Column("right", REAL, "perplexity given v of a sentence's own image; the mean over seeds"),
        Column("shuffled", REAL, "perplexity given v of an image of another family; the mean over seeds"),
        Column("gain", REAL, "mean negative log likelihood of a prediction, shuffled minus right, nats"),
        Column("gain_low", REAL, "low end of its 95% interval", nullable=True),
        Column("gain_high", REAL, "high end", nullable=True),
    ),
)

_NOTES = [
    "Perplexity: e to the mean negative log likelihood of a prediction, by the decoder that generates sentences from "
    "v, the vector of an image; the mean over seeds. A sentence has a prediction for each of its words that the "
    "decoder reads, and one for its end. A word outside the decoder's vocabulary counts as the unknown word, so "
    "compare perplexities of the same vocabulary only.",
    "v right: v of the sentence's own image. v shuffled: v of another image of the split. One permutation, the same "
    "for all rows and seeds, gives no image its own v or that of an image of its family.",
    "Gain: what the right v gains over the shuffled one, in nats for each prediction: the difference of the two mean "
    "negative log likelihoods.",
    "Its 95% interval: a bootstrap over the images, each with its sentences (in families, where a data set has such); "
    "with two or more seeds it also covers the seed of training, by Student's distribution. It does not cover the "
    f"permutation. {TOO_FEW}",
]


def make_perplexity_table(images: str, found: Sequence[str], plan: Mapping[str, Any], **outputs: str) -> None:
    """The job that makes the table from LIKELIHOODS of each variant and seed, in any order.

    `images` are IMAGES, `plan` has the values of `PerplexityPlan`, and `outputs` the names of `Outputs`. Raises
    `InputError` if an artifact of the plan is missing.
    """
    planned, families = validate(PerplexityPlan, plan, "the plan of the table"), read_families(images)
    index, records = ArtifactIndex(found, LIKELIHOODS), []
    for name, entry in planned.measured.items():
        runs = [schema.read(index.path(one), LIKELIHOODS) for one in planned.runs(name)]
        row = {"method": entry.title, "variant": name, "seeds": len(runs)}
        records.append({**row, **_counts(runs[0]), **perplexities(runs, families)})
    frame = pd.DataFrame(records, columns=[column.name for column in PERPLEXITY.columns])
    rows = frame.to_dict("records")
    heading = f"Sentences of the {planned.split} split, generated from the right image or another"
    sheet = Sheet.from_rows(heading, _columns(planned), rows)
    document = Document(f"{planned.title}: perplexity", [sheet], [*_NOTES, *_count_notes(rows, planned)])
    write_table(frame, PERPLEXITY, document, Outputs(**outputs))


def perplexities(runs: Sequence[pd.DataFrame], families: pd.Series) -> dict[str, float]:
    """Both perplexities, the gain and the ends of its 95% interval, from the LIKELIHOODS rows of several seeds.

    `families` are by image_id.
    """
    counted = ["predictions", "right", "shuffled"]
    sums = [run.groupby(families[run["image_id"]].to_numpy())[counted].sum() for run in runs]
    bootstrap = SumBootstrap(sums[0].index, {"gain": (-np.inf, np.inf)})
    drawn = bootstrap.replicates(sums, _metrics)
    low, high = bootstrap.interval("gain", drawn)
    means = {name: float(drawn.by_seed[name].mean()) for name in ("right", "shuffled", "gain")}
    return {**means, "gain_low": low, "gain_high": high}


def _metrics(run: pd.DataFrame, sums: Sums) -> dict[str, Reals]:
    """The metrics of a seed on every draw; `run` has the sums of each family."""
    right, shuffled = (sums(run[name]) / sums(run["predictions"]) for name in ("right", "shuffled"))
    return {"right": np.exp(right), "shuffled": np.exp(shuffled), "gain": shuffled - right}


def _counts(run: pd.DataFrame) -> dict[str, int]:
    return {"images": run["image_id"].nunique(), "sentences": len(run), "predictions": int(run["predictions"].sum())}


def _columns(plan: PerplexityPlan) -> tuple[TableColumn, ...]:
    return (
        METHOD,
        TableColumn("v right", "Perplexity", "Perplexity,", cell=lambda row: f"{row['right']:.2f}"),
        TableColumn("v shuffled", "Perplexity", "Perplexity,", cell=lambda row: f"{row['shuffled']:.2f}"),
        TableColumn("Gain", cell=lambda row: f"{row['gain']:+.3f}"),
        TableColumn("95% of gain", cell=_interval),
        variant_and_seeds(plan.measured),
    )


def _interval(row: Mapping[str, Any]) -> str:
    return "" if np.isnan(row["gain_low"]) else f"{row['gain_low']:+.3f} to {row['gain_high']:+.3f}"


def _count_notes(rows: Sequence[Mapping[Any, Any]], plan: PerplexityPlan) -> list[str]:
    """Notes of the numbers of images, sentences and predictions of each row."""
    return [
        f"{row['variant']}: {row['images']:,} images of {plan.split} with {row['sentences']:,} sentences, "
        f"{row['predictions']:,} predictions."
        for row in rows
    ]
