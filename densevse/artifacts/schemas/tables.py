"""The rows of tables of results."""

from snakeproof.schema import NUMBER, REAL, TEXT, Column, Schema

RETRIEVAL_METRICS = tuple(
    Column(f"{direction}_{metric}", REAL, meaning, nullable=True)
    for direction in ("i2t", "t2i")
    for metric, meaning in (
        ("r1", "R@1, percent"),
        ("r5", "R@5, percent"),
        ("r10", "R@10, percent"),
        ("median_rank", "Med r"),
        ("mean_rank", "Mean r"),
    )
)

TOTALS = (
    Column("rsum", REAL, "sum of the six recalls", nullable=True),
    Column("mean_recall", REAL, "mR, the mean of the six recalls", nullable=True),
)
INTERVAL_COLUMNS = tuple(
    Column(f"{column.name}_{end}", REAL, f"{end} end of the 95% interval of {column.name}", nullable=True)
    for column in (*RETRIEVAL_METRICS, *TOTALS)
    for end in ("low", "high")
)
_GAIN = (
    Column("gain", REAL, "rsum minus that of the row that it is compared with", nullable=True),
    Column("gain_low", REAL, "low end of the paired 95% interval of gain", nullable=True),
    Column("gain_high", REAL, "high end of the paired 95% interval of gain", nullable=True),
)
RSUM_SPREAD = Column("rsum_spread", REAL, "standard deviation of rsum over seeds", nullable=True)

RESULTS = Schema(
    "results",
    "a row of a table",
    (
        Column("dataset", TEXT, "the data set of the row's section"),
        Column("protocol", TEXT, "the protocol of the row's section"),
        Column("method", TEXT, "the method's name as printed"),
        Column("kind", TEXT, "random, published or measured"),
        Column("source", TEXT, "paper and table of a published row; variant and seeds of a measured one"),
        Column("variant", TEXT, "the variant in config/methods that the row belongs to; empty without one"),
        *RETRIEVAL_METRICS,
        *TOTALS,
        *INTERVAL_COLUMNS,
        RSUM_SPREAD,
        *_GAIN,
        Column("difference", REAL, "ours minus a published row, summed over the recalls it prints", nullable=True),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
    version=3,
)

ROUNDS = Schema(
    "rounds",
    "a round of a variant that learns correspondences",
    (
        Column("variant", TEXT, "the variant in config/methods"),
        Column("method", TEXT, "its name as printed"),
        Column("round", NUMBER, "the round; 0 is trained without correspondences"),
        Column("seeds", NUMBER, "how many seeds its metrics are means of"),
        *RETRIEVAL_METRICS,
        *TOTALS,
        *INTERVAL_COLUMNS,
        RSUM_SPREAD,
        *_GAIN,
        *(
            Column(f"{choice}_accuracy", REAL, f"share of phrases given a right region: {meaning}", nullable=True)
            for choice, meaning in (
                ("learned", "the correspondences that the round was trained on"),
                ("whole_image", "always the whole image"),
                ("chance", "any region by chance"),
                ("best_possible", "the best of the regions"),
            )
        ),
    ),
    version=3,
)
