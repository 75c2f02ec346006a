"""The rows of tables of caption oracles."""

from densevse.artifacts.schema import Column, Schema
from densevse.artifacts.schemas.columns import NUMBER, REAL, TEXT

_INTERVALS = ("bleu_4", "cider", "gain", "lead")
"""The columns with 95% intervals, percent."""

CAPTION_ORACLES = Schema(
    "caption oracles",
    "a row of a table of caption oracles: sentences scored by an image's sentences without its first",
    (
        Column("writer", TEXT, "the name of what wrote the sentences, as in generated_captions/"),
        Column("method", TEXT, "its title"),
        Column("known", TEXT, "the part of the first sentence that it is told"),
        Column("selection", TEXT, "the way in which one of its sentences is chosen"),
        Column("bleu_4", REAL, "BLEU-4, percent"),
        Column("cider", REAL, "CIDEr, percent"),
        Column("gain", REAL, "CIDEr less that of the generator without an oracle, percent", nullable=True),
        Column("lead", REAL, "CIDEr less that of the reference, told and chosen alike, percent", nullable=True),
        *(
            Column(f"{name}_{end}", REAL, f"{end} end of its 95% interval", nullable=True)
            for name in _INTERVALS
            for end in ("low", "high")
        ),
        Column("new", REAL, "sentences that are not in training word for word, percent"),
        Column("length", REAL, "words of a sentence, mean"),
        Column("seeds", NUMBER, "how many seeds"),
    ),
)
