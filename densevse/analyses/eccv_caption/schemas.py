"""Measures of ECCV Caption and CxC."""

from densevse.analyses.eccv_caption.measures import MEASURE_COLUMNS
from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL, TEXT

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
