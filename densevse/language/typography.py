"""Apostrophes, quotation marks and dots as a typewriter has them, so that what a phone types is the same word."""

import re

APOSTROPHE_INSIDE = re.compile(r"(?<=[^\W\d_])[`´′](?=[^\W\d_])")
"""Marks that are apostrophes between letters alone."""

TYPEWRITTEN = str.maketrans(
    {**dict.fromkeys("‘’‛ʼ＇\x91\x92", "'"), **dict.fromkeys("“”„‟＂\x93\x94", '"'), "…": "...", "\x85": "..."}
)


def typewritten(text: str) -> str:
    """A text with straight apostrophes and quotation marks, and dots for an ellipsis.

    All that reads sentences reads them so, in training and in searches. Stanford CoreNLP cuts both kinds alike, but
    keeps them apart; vocabularies and word vectors have the straight ones.
    """
    return text if text.isascii() and "`" not in text else APOSTROPHE_INSIDE.sub("'", text.translate(TYPEWRITTEN))
