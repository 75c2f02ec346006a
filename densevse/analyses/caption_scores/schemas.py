"""The rows of tables of caption oracles."""

from collections.abc import Iterable

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL, REALS, TEXT, TEXTS

DIFFERENCES = ("gain", "lead")
"""The columns that compare a row with another one."""

_INTERVALS = ("bleu_4", "cider", *DIFFERENCES)
"""The columns with 95% intervals, percent."""

_ROW = (
    Column("writer", TEXT, "the name of what wrote the sentences, as in generated_captions/"),
    Column("method", TEXT, "its title"),
    Column("known", TEXT, "the part of the first sentence that it is told"),
    Column("selection", TEXT, "the way in which one of its sentences is chosen"),
    Column("bleu_4", REAL, "BLEU-4, percent"),
    Column("cider", REAL, "CIDEr, percent"),
    Column("gain", REAL, "CIDEr less that of the generator without an oracle, percent", nullable=True),
    Column("lead", REAL, "CIDEr less that of the reference, told and chosen alike, percent", nullable=True),
)


def _limits(names: Iterable[str]) -> tuple[Column, ...]:
    return tuple(
        Column(f"{name}_{end}", REAL, f"{end} end of its 95% interval", nullable=True)
        for name in names
        for end in ("low", "high")
    )


CAPTION_ORACLES = Schema(
    "caption oracles",
    "a row of a table of caption oracles: sentences scored by an image's sentences without its first",
    (
        *_ROW,
        *_limits(_INTERVALS),
        Column("new", REAL, "sentences that are not in training word for word, percent"),
        Column("length", REAL, "words of a sentence, mean"),
        Column("seeds", NUMBER, "how many seeds"),
    ),
)
CAPTION_ORACLE_MEANS = Schema(
    "means of caption oracles",
    "a row of a table of caption oracles, as a mean over resplits of a data set",
    (
        *_ROW,
        *_limits(DIFFERENCES),
        Column("resplits", TEXTS, "the resplits"),
        Column("gains", REALS, "the gain of each resplit; none where there is no gain"),
        Column("leads", REALS, "the lead of each resplit; none where there is no lead"),
        Column("seeds", NUMBER, "how many seeds each resplit has"),
    ),
)
