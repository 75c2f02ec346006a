"""The table of region-phrase ranking: the published figures with ours beside them (HM-LSTM, Table 4)."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.artifacts.schemas.tables import RESULTS
from densevse.evaluation.protocols import TestSet
from densevse.evaluation.published import FIGURE_COLUMNS, read_papers
from densevse.evaluation.recall import DIRECTIONS
from densevse.evaluation.tables import (
    Measured,
    Outputs,
    document,
    measured_row,
    published_rows,
    random_row,
    results,
    write_table,
)


def make_region_table(
    rankings: list[str], published: str, papers: str, settings: Mapping[str, Any], outputs: Outputs
) -> None:
    """Make the table from RETRIEVAL artifacts of regions (annotation) and phrases (search).

    `settings` holds title (the data set's), titles (variant -> as printed) and seeds; `rankings` come by variant, then
    seed. The published set, MS-COCO-region, was never distributed: its figures stand beside others' regions.
    """
    files = iter(rankings)
    measured = [
        Measured(name, title, {seed: schema.read(next(files), RETRIEVAL) for seed in settings["seeds"]})
        for name, title in settings["titles"].items()
    ]
    test_set = _test_set(rankings[0])
    printed = pd.read_csv(published, keep_default_na=False).assign(protocol="full")
    printed = printed.reindex(columns=list(dict.fromkeys([*printed.columns, *FIGURE_COLUMNS])))
    rows = results(
        random_row(test_set, "full"),
        published_rows(printed, read_papers(papers)),
        [measured_row(one) for one in measured],
        "full",
    )
    regions, phrases = len(test_set.image_ids), len(test_set.caption_ids)
    heading = f"{settings['title']}, region-phrase ranking: test split, {regions:,} regions and {phrases:,} phrases"
    write_table(rows, RESULTS, document(rows, heading, NOTES), settings, outputs)


NOTES = [
    "Annotation: a region asks for its phrases among all phrases; search: a phrase asks for its region among all.",
    "A region is the box around all that a phrase names; phrases are the parser's noun phrases that have a true box. "
    "A tie counts against the query.",
    "Published on MS-COCO-region (4,467 regions, 18,724 phrases of 1,000 images), which was never widely distributed: "
    "figures on other regions are not comparable, the more so the fewer regions there are; compare with Random.",
]


def _test_set(ranking: str) -> TestSet:
    """The regions and phrases of a ranking, of which it says how many phrases each region has."""
    rows = schema.read(ranking, RETRIEVAL)
    counts = np.array(schema.check(ranking, RETRIEVAL)["phrases_of_regions"], np.int64)
    regions, phrases = (rows.loc[rows["direction"] == name, "query_id"].to_numpy(object) for name in DIRECTIONS)
    region = np.repeat(np.arange(len(counts)), counts)
    return TestSet(regions, phrases, region, np.arange(len(region)) - np.searchsorted(region, region))
