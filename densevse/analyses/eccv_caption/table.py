"""A table of ECCV Caption and CxC, from RETRIEVAL artifacts of MS-COCO's test split.

The true answers are those of the package eccv_caption. ECCV Caption: Chun et al., ECCV Caption: Correcting False
Negatives by Collecting Machine-and-Human-verified Image-Caption Associations for MS-COCO, ECCV 2022. CxC: Parekh et
al., Crisscrossed Captions, EACL 2021.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd
from eccv_caption import Metrics

from densevse.analyses.eccv_caption.measures import BENCHMARKS, MEASURE_COLUMNS, measure, numbers_of, read_lists
from densevse.analyses.eccv_caption.plan import ExtendedTruthPlan
from densevse.artifacts.families import families_of
from densevse.artifacts.index import ArtifactIndex
from densevse.artifacts.schema import NUMBER, REAL, TEXT, Column, Schema
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.strict import validate
from densevse.evaluation.metrics import DIRECTIONS
from densevse.report.footnotes import INTERVALS
from densevse.report.rendering import Document, Sheet, TableColumn, named_seeds, number, number_range
from densevse.report.results import Outputs, write_table
from densevse.report.sections import checked_retrievals
from densevse.runtime.arrays import Indices, Reals
from densevse.statistics.intervals import Replicates, SumBootstrap, Sums

_TITLES = {"eccv": "ECCV", "cxc": "CxC"}
_HEADERS = {"map_at_r": "mAP@R", "rprecision": "R-P", "r1": "R@1", "r5": "R@5", "r10": "R@10"}
_PERCENT = (0.0, 100.0)

EXTENDED_TRUTH_RESULTS = Schema(
    "extended_truth_results",
    "a row of a table of ECCV Caption and CxC",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("variant", TEXT, "the variant, ensemble or given row in config/methods"),
        Column("seeds", NUMBER, "how many seeds"),
        *(
            column
            for name in MEASURE_COLUMNS
            for column in (
                Column(name, REAL, "benchmark, direction and measure, percent; the mean over seeds"),
                Column(f"{name}_low", REAL, "the low end of its 95% interval", nullable=True),
                Column(f"{name}_high", REAL, "the high end", nullable=True),
            )
        ),
    ),
)

Answers: TypeAlias = Mapping[int, Sequence[int]]
"""The true answers of each query, by MS-COCO's ids: images by number, sentences by annotation."""


class ExtendedTruth(NamedTuple):
    """True answers, by direction (i2t, t2i)."""

    own: Mapping[str, Answers]  # each of the 5,000 images and its five sentences
    benchmarks: Mapping[str, Mapping[str, Answers]]  # eccv and cxc


class _FamilySums(NamedTuple):
    """The values of a measure for one seed, summed by family of images, (families,) each."""

    values: Reals
    queries: Reals


def read_truth() -> ExtendedTruth:
    """Reads the true answers from the installed package."""
    held = Metrics()
    return ExtendedTruth(held.coco_gts, {"eccv": held.eccv_gts, "cxc": held.cxc_gts})


def make_extended_truth_table(
    images: str, captions: str, retrievals: Sequence[str], plan: Mapping[str, Any], **outputs: str
) -> None:
    """The job that makes the table, from RETRIEVAL artifacts of each row and seed in any order.

    `plan` has the values of `ExtendedTruthPlan`, and `outputs` the names of `Outputs`. Raises `InputError` if an
    artifact of the plan is missing, was not made as the plan states, or ranks other images or sentences than the
    benchmarks.
    """
    planned = validate(ExtendedTruthPlan, plan, "the plan of the table")
    truth, index = read_truth(), ArtifactIndex(retrievals, RETRIEVAL)
    numbers, section = numbers_of(captions, truth.own["i2t"]), planned.section
    found: dict[str, list[dict[str, Reals]]] = {}
    for name in section.measured:
        paths = checked_retrievals(name, section, planned.configured, index)
        found[name] = [measure(read_lists(path, numbers, truth.own), truth.benchmarks) for path in paths.values()]
    families = families_of(images)[[str(image) for image in truth.own["i2t"]]]
    bootstrap = SumBootstrap(np.arange(families.nunique()), dict.fromkeys(MEASURE_COLUMNS, _PERCENT))
    groups = _groups(truth, families)
    records = []
    for name, runs in found.items():
        drawn = bootstrap.replicates([_by_family(run, groups, families.nunique()) for run in runs], _percentages)
        row = {"method": section.measured[name].title, "variant": name, "seeds": len(runs)}
        records.append(row | _with_intervals(drawn, bootstrap))
    frame = pd.DataFrame(records, columns=[column.name for column in EXTENDED_TRUTH_RESULTS.columns])
    document = Document(f"{planned.title}: ECCV Caption and CxC", _sheets(frame, planned, truth), _notes(truth))
    write_table(frame, EXTENDED_TRUTH_RESULTS, document, planned, Outputs(**outputs))


def _groups(truth: ExtendedTruth, families: pd.Series) -> dict[str, Indices]:
    """The number, from 0, of the family of each query's image; `families` are by image_id."""
    family = pd.Series(pd.factorize(families)[0], index=families.index)
    image_of = {
        "i2t": {image: image for image in truth.own["i2t"]},
        "t2i": {s: i for s, (i,) in truth.own["t2i"].items()},
    }
    return {
        f"{benchmark}_{direction}_{name}": family[
            [str(image_of[direction][query]) for query in of[direction]]
        ].to_numpy()
        for benchmark, of in truth.benchmarks.items()
        for direction in DIRECTIONS
        for name in BENCHMARKS[benchmark][1]
    }


def _by_family(run: Mapping[str, Reals], groups: Mapping[str, Indices], families: int) -> dict[str, _FamilySums]:
    found = {}
    for name, values in run.items():
        added = np.bincount(groups[name], values, families).astype(float)
        found[name] = _FamilySums(added, np.bincount(groups[name], minlength=families).astype(float))
    return found


def _percentages(run: Mapping[str, _FamilySums], sums: Sums) -> dict[str, Reals]:
    return {name: 100 * sums(of.values) / sums(of.queries) for name, of in run.items()}


def _with_intervals(drawn: Replicates, bootstrap: SumBootstrap) -> dict[str, float]:
    found: dict[str, float] = {}
    for name in MEASURE_COLUMNS:
        low, high = bootstrap.interval(name, drawn)
        found |= {name: float(drawn.by_seed[name].mean()), f"{name}_low": low, f"{name}_high": high}
    return found


def _sheets(rows: pd.DataFrame, plan: ExtendedTruthPlan, truth: ExtendedTruth) -> list[Sheet]:
    method, variant = TableColumn("Method", number=False), TableColumn("Variant and seeds", number=False)
    columns = (method, *_columns(), variant)
    sheets: dict[str, list[list[str]]] = {"measures": [], "intervals": []}
    for row in rows.to_dict("records"):
        last = f"{row['variant']}, {named_seeds(plan.section.measured[row['variant']].seeds)}"
        sheets["measures"].append([row["method"], *(number(row[name]) for name in MEASURE_COLUMNS), last])
        ends = [number_range((row[f"{name}_low"], row[f"{name}_high"])) for name in MEASURE_COLUMNS]
        sheets["intervals"].append([row["method"], *ends, last])
    images, sentences = (f"{len(truth.own[direction]):,}" for direction in DIRECTIONS)
    heading = f"{plan.title}: test split, {images} images, {sentences} sentences, every sentence against every image"
    return [
        Sheet(heading, columns, sheets["measures"]),
        Sheet("95% intervals of our metrics", columns, sheets["intervals"]),
    ]


def _columns() -> list[TableColumn]:
    found = []
    for benchmark, (_, names) in BENCHMARKS.items():
        for direction in DIRECTIONS:
            group = f"{_TITLES[benchmark]} {direction}"
            found += [TableColumn(_HEADERS[name], group, short=group) for name in names]
    return found


def _notes(truth: ExtendedTruth) -> list[str]:
    counts = {name: [f"{len(of[direction]):,}" for direction in DIRECTIONS] for name, of in truth.benchmarks.items()}
    return [
        "ECCV Caption (Chun et al., ECCV 2022): {} images and {} sentences ask, with true answers that models proposed "
        "and people verified. R is the number of a query's true answers. R-P (R-Precision): the share of the first R "
        "candidates that are true. mAP@R: the mean over the first R places of the precision up to a place where that "
        "holds a true answer, else 0.".format(*counts["eccv"]),
        "CxC (Parekh et al., EACL 2021): {} images and {} sentences ask. R@K: the share of queries with a true answer "
        "among the first K candidates.".format(*counts["cxc"]),
        "In percent, means over seeds. A tie is never a hit: of candidates with one score the wrong ones come first.",
        INTERVALS,
        f"True answers: eccv_caption {version('eccv_caption')}.",
    ]
