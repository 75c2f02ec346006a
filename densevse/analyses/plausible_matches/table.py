"""The table of PMRP, from PLAUSIBLE artifacts."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from densevse.analyses.plausible_matches.matches import PLAUSIBLE, WITHIN
from densevse.artifacts.families import read_families
from densevse.artifacts.index import ArtifactIndex
from densevse.evaluation.metrics import DIRECTIONS
from densevse.evaluation.relevance import MeanBootstrap
from densevse.report.columns import METHOD, MetricColumn, variant_and_seeds
from densevse.report.footnotes import INTERVALS
from densevse.report.plan import LastRoundsPlan
from densevse.report.rendering import Document, Sheet
from densevse.report.results import Outputs, write_table
from snakeproof import schema
from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema
from snakeproof.strict import validate

_PMRP = [
    MetricColumn(direction, REAL, f"PMRP of {direction}, percent", False, "PMRP", direction) for direction in DIRECTIONS
]

PLAUSIBLE_RESULTS = Schema(
    "plausible_results",
    "a row of a table of PMRP",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        *(column for metric in _PMRP for column in metric.with_ends()),
    ),
)

_NOTES = [
    "PMRP (Chun et al., CVPR 2021): an image and a sentence match within z if the image and the sentence's own image "
    f"differ in at most z of MS-COCO's classes of objects. The mean over z = {', '.join(map(str, WITHIN))} of the mean "
    "over queries of the R-Precision, in percent. R is the number of a query's matches.",
    "All images and sentences of the test split are ranked together, without images that have no object. Of candidates "
    "with one score the wrong ones come first.",
    INTERVALS,
]


def make_plausible_table(images: str, found: Sequence[str], plan: Mapping[str, Any], **outputs: str) -> None:
    """The job that makes the table from PLAUSIBLE of each variant and seed, in any order.

    `plan` has the values of `LastRoundsPlan`, and `outputs` the names of `Outputs`. Raises `InputError` if an artifact
    of the plan is missing.
    """
    planned, families = validate(LastRoundsPlan, plan, "the plan of the table"), read_families(images)
    index, records = ArtifactIndex(found, PLAUSIBLE), []
    for name, entry in planned.measured.items():
        runs = planned.runs(name)
        row = {"method": entry.title, "variant": name, "seeds": len(runs)}
        records.append(row | pmrp([schema.read(index.path(one), PLAUSIBLE) for one in runs], families))
    frame = pd.DataFrame(records, columns=[column.name for column in PLAUSIBLE_RESULTS.columns])
    measures = (column for metric in _PMRP for column in metric.printed_with_interval("95%"))
    columns = (METHOD, *measures, variant_and_seeds(planned.measured))
    sheet = Sheet.from_rows("Plausible matches", columns, frame.to_dict("records"))
    document = Document(f"{planned.title}: PMRP", [sheet], _NOTES)
    write_table(frame, PLAUSIBLE_RESULTS, document, Outputs(**outputs))


def pmrp(runs: Sequence[pd.DataFrame], families: pd.Series) -> dict[str, float]:
    """PMRP of both directions from PLAUSIBLE rows of several seeds, and its intervals; `families` are by image_id."""
    family = pd.factorize(families[runs[0]["image_id"]])[0]
    asks = {direction: (runs[0]["direction"] == direction).to_numpy() for direction in DIRECTIONS}
    means = [run[[f"within_{z}" for z in WITHIN]].mean(axis=1).to_numpy("float64") for run in runs]
    values = [{direction: mean[rows] for direction, rows in asks.items()} for mean in means]
    return MeanBootstrap({name: family[rows] for name, rows in asks.items()}).means_and_intervals(values)
