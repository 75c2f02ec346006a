"""The rows of tables of claims."""

from densevse.artifacts.schema import NUMBER, REAL, REALS, TEXT, TEXTS, Column, Schema

CLAIM_RESULTS = Schema(
    "claims",
    "a claim of a paper, tested on a data set or on several resplits of it",
    (
        Column("dataset", TEXT, "the data set; of a mean over resplits, the one that they divide"),
        Column("resplits", TEXTS, "the resplits whose mean the row is; none of a row of a single data set"),
        Column("protocol", TEXT, "the protocol"),
        Column("paper", TEXT, "the paper's name"),
        Column("claim", TEXT, "the claim in one sentence"),
        Column("place", TEXT, "where the paper prints its figures; `ours` where it prints none"),
        Column("metric", TEXT, "the metric that decides"),
        Column("better", TEXT, "the row that is claimed to be better: a variant and, if it is not the last, its round"),
        Column("worse", TEXT, "the row that it is compared with"),
        Column("better_metric", REAL, "the metric of the better row, a mean over seeds"),
        Column("worse_metric", REAL, "the metric of the worse row, a mean over seeds"),
        Column("gain", REAL, "how much better the better row is; of ranks, how much lower"),
        Column("gain_low", REAL, "low end of the paired 95% interval of gain", nullable=True),
        Column("gain_high", REAL, "high end of the paired 95% interval of gain", nullable=True),
        Column("seeds", NUMBER, "how many seeds"),
        Column("gains", REALS, "the gain of each seed, or of each resplit, in their order"),
        Column("least_gain", REAL, "what each of gains must be before the claim is called supported"),
        Column("verdict", TEXT, "supported, contradicted, not supported, or undecided without an interval"),
    ),
)
