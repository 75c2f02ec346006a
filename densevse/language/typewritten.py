"""Writes the marks of a phone as a typewriter does. Parsers need no more of a sentence, so no tokenizer is here."""

import re

APOSTROPHE_INSIDE = re.compile(r"(?<=[^\W\d_])[`´′](?=[^\W\d_])")
"""Marks that are apostrophes only between letters."""

TYPEWRITTEN = str.maketrans(
    {**dict.fromkeys("‘’‛ʼ＇\x91\x92", "'"), **dict.fromkeys("“”„‟＂\x93\x94", '"'), "…": "...", "\x85": "..."}
)


def straighten_quotes(text: str) -> str:
    """A text with straight apostrophes and quotation marks, and dots for an ellipsis.

    All code reads sentences in this form, in training and in searches. Stanford CoreNLP cuts both kinds alike but keeps
    them distinct; vocabularies and word vectors have the straight ones.
    """
    return text if text.isascii() and "`" not in text else APOSTROPHE_INSIDE.sub("'", text.translate(TYPEWRITTEN))
