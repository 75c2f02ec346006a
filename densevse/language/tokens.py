"""Tokens: how a sentence is cut into words, once for all stages.

Only what cuts sentences imports this module: NLTK takes some tenths of a second to import, for no use elsewhere.
"""

import re

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.language.nltk_parts import NLTKWordTokenizer, TreebankWordDetokenizer
from densevse.language.typography import typewritten
from densevse.runtime.logs import progress

# CoreNLP cuts at a hyphen between words (after Universal Dependencies), NLTK does not.
HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
_PUNCTUATION = frozenset({"''", "'", "``", "`", "(", ")", "{", "}", ".", "?", "!", ",", ":", "-", "--", "...", ";"})
QUOTES = {"``": '"', "''": '"'}
TOKENIZER, DETOKENIZER = NLTKWordTokenizer(), TreebankWordDetokenizer()


def tokenize(text: str) -> list[str]:
    """Cut a sentence into lower-case Penn Treebank tokens, so that a parser's tokens find the same words.

    On the 35,000 captions of Flickr8k 99.7% are cut exactly as CoreNLP does, and of CoreNLP's tokens 99.98% are words
    found here.
    """
    tokens = TOKENIZER.tokenize(HYPHEN.sub(" - ", typewritten(text).lower()))
    return [QUOTES.get(token, token) for token in tokens]


def compared(text: str) -> list[str]:
    """The words of a sentence as the metrics of captions compare them: lower case, without punctuation.

    On the captions of Flickr8k this is what the metrics' own tokenizer, which needs Java, gives.
    """
    return [token for token in TOKENIZER.tokenize(typewritten(text).lower()) if token not in _PUNCTUATION]


def detokenize(tokens: list[str]) -> str:
    """A sentence of tokens: punctuation stands where it belongs, and words joined by a hyphen are one again."""
    joined: str = DETOKENIZER.detokenize(tokens)
    return joined.replace(" - ", "-")


def write_tokens(captions_path: str, path: str) -> None:
    """Cut every sentence of a captions file into words, once for all stages, and write a TOKENS artifact to `path`."""
    captions = schema.read(captions_path, CAPTIONS, ["caption_id", "image_id", "split", "text"])
    texts = captions.pop("text")
    tokens = pd.Series([tokenize(text) for text in progress(texts, "sentences", len(texts))], dtype=object)
    schema.write(captions.assign(tokens=tokens), TOKENS, path, lineage({}, {"captions": captions_path}))
