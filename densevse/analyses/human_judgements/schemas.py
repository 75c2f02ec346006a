"""People's judgements of how well sentences describe images, methods' scores, and the agreement of the two."""

from densevse.artifacts.schema import CAPTION_ID, IMAGE_ID, NUMBER, REAL, TEXT, Column, Schema

JUDGEMENTS = Schema(
    "judgements",
    "a judgement of how well a sentence describes an image",
    (
        IMAGE_ID,
        CAPTION_ID,
        Column("by", TEXT, "experts (one row for each of three) or crowd (one row for all)"),
        Column("rating", REAL, "experts: from 1 (does not describe it) to 4 (describes it); crowd: share of yes"),
    ),
)

PAIR_SCORES = Schema(
    "pair_scores",
    "an image and a sentence",
    (
        IMAGE_ID,
        CAPTION_ID,
        Column("score", REAL, "the method's score of the two, higher is closer"),
    ),
)

AGREEMENT = Schema(
    "agreement",
    "a row of a table of agreement with people",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("source", TEXT, "paper of a published row; variant and seeds of a measured one"),
        Column("variant", TEXT, "the variant in config/methods; empty for a published row"),
        *(
            Column(f"{by}{end}", REAL, f"{meaning}{of}", nullable=True)
            for by, meaning in (
                ("experts", "Kendall's tau-c with the experts' ratings, percent"),
                ("crowd", "Kendall's tau-b with the crowd's shares of yes, percent"),
            )
            for end, of in (
                ("", ""),
                ("_low", ", low end of the 95% interval"),
                ("_high", ", high end of the 95% interval"),
            )
        ),
        Column("seeds", NUMBER, "how many seeds; 0 where not measured here"),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
)
