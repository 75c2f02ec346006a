"""Ballots of learned correspondences, people's votes on them, and the shares of correct ones."""

import pyarrow as pa

from densevse.artifacts.schema import BOX_COLUMNS, CAPTION_ID, IMAGE_ID, NUMBER, REAL, TEXT, TEXTS, Column, Schema

_PAIR = Column("pair", TEXT, "its number on the ballot, from 1, and a digest of image, caption, phrase and box")

BALLOT = Schema(
    "ballot",
    "a learned correspondence that people are asked to judge, in the order drawn",
    (
        _PAIR,
        IMAGE_ID,
        CAPTION_ID,
        Column("tokens", TEXTS, "the caption's tokens, as the parser wrote them"),
        Column("phrase", TEXT, "the phrase's words"),
        Column("start", NUMBER, "index of its first token in the caption"),
        Column("end", NUMBER, "index after its last token"),
        *BOX_COLUMNS,
    ),
)

VOTES = Schema(
    "votes",
    "a person's vote on a pair of a ballot",
    (
        _PAIR,
        Column("voter", TEXT, "the person's name, as the file of votes has it"),
        Column("correct", pa.bool_(), "whether the person calls the correspondence correct"),
    ),
)

VOTE_SHARES = Schema(
    "vote_shares",
    "a row of a table of votes on learned correspondences",
    (
        Column("method", TEXT, "the method's name as printed"),
        Column("source", TEXT, "paper of a published row; the seed of a measured one"),
        Column("variant", TEXT, "the variant in config/methods; empty for a published row"),
        *(
            Column(f"{metric}{end}", REAL, f"{meaning}, percent{of}", nullable=True)
            for metric, meaning in (
                ("correct", "share of the pairs with votes that more voters call correct than not"),
                ("exact", "share of those with a true box that their box overlaps by at least 0.5"),
            )
            for end, of in (
                ("", ""),
                ("_low", "; low end of the 95% interval"),
                ("_high", "; high end of the 95% interval"),
            )
        ),
        Column("exact_pairs", NUMBER, "pairs with votes whose phrase has a true box", nullable=True),
        Column("pairs", NUMBER, "pairs with votes"),
        Column("fewest_voters", NUMBER, "voters of the pair that has the fewest, among those with votes"),
        Column("most_voters", NUMBER, "voters of the pair that has the most"),
        Column("ties", NUMBER, "pairs with as many votes for as against, which count as not correct", nullable=True),
        Column("without_votes", NUMBER, "pairs of the ballot without votes, which are left out", nullable=True),
        Column("note", TEXT, "what is special about a published row; mostly empty"),
    ),
)
