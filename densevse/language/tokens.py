"""Cuts sentences into words (tokens), once for all stages.

Import this module only where sentences are cut: importing NLTK takes some tenths of a second. NLTK imports all of its
parts at once, and these import scikit-learn and SciPy if installed, which takes longer than most jobs of a small data
set. Both are optional to NLTK, so they are hidden while it is imported.
"""

import re
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager

import pandas as pd

from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import TOKENS
from densevse.language.typewritten import straighten_quotes
from snakeproof import schema
from snakeproof.logs import progress


@contextmanager
def _hide_packages(packages: Collection[str]) -> Iterator[None]:
    """Makes imports of packages raise `ImportError` within the context, except those already imported."""
    hidden = [name for name in packages if name not in sys.modules]
    sys.modules.update(dict.fromkeys(hidden))  # type: ignore[arg-type]  # None stands for "not found"
    try:
        yield
    finally:
        for name in hidden:
            del sys.modules[name]


with _hide_packages(("matplotlib", "scipy", "sklearn")):
    from nltk.tokenize import NLTKWordTokenizer, TreebankWordDetokenizer

# CoreNLP cuts at a hyphen between words (as Universal Dependencies do), NLTK does not.
HYPHEN = re.compile(r"(?<=[^\W_])-(?=[^\W_])")
_PUNCTUATION = frozenset({"''", "'", "``", "`", "?", "!", ",", ":", "-", "--", ";"})
_BRACKETS = {"(": "-lrb-", ")": "-rrb-", "[": "-lsb-", "]": "-rsb-", "{": "-lcb-", "}": "-rcb-"}
_DASHES = str.maketrans(dict.fromkeys("–—", " -- "))
# NLTK expects one sentence. CoreNLP (4.5.10) cuts a full stop off each word before another, but for those with an inner
# one (s.c.u.b.a.), single letters, and these abbreviations.
_ABBREVIATIONS = r"""
(?<!')[a-z] no(?=\.\s+\d) mr mrs ms dr prof st jr sr vs etc inc ltd co corp jan feb mar apr jun jul aug sept? oct nov
dec mon tue wed thu fri ft mt lt col gen capt sgt rev hon gov sen rep pres ave blvd rd cf al bros est dept univ assn
messrs maj cpl pvt adm cmdr det esq mme lb min tel ext sq max
"""
_INNER_STOP = re.compile(rf"(?<![.\w])(?!(?:{'|'.join(_ABBREVIATIONS.split())})\.)(\w*[^\s.])\.(?=[\"')\]}}]*\s+\S)")
_ABBREVIATION_AT_END = re.compile(r"(?:\b[a-z]\.){2,}$|\betc\.$")
QUOTES = {"``": '"', "''": '"'}
TOKENIZER, DETOKENIZER = NLTKWordTokenizer(), TreebankWordDetokenizer()


def tokenize(text: str) -> list[str]:
    """Cuts a sentence into lower-case Penn Treebank tokens, so that a parser's tokens match.

    Of Flickr8k's 35,000 captions, 99.7% are cut exactly as CoreNLP cuts them, and 99.98% of CoreNLP's tokens are words
    here too.
    """
    plain = _INNER_STOP.sub(r"\1 .", HYPHEN.sub(" - ", straighten_quotes(text).lower()))
    tokens = TOKENIZER.tokenize(plain)
    return [QUOTES.get(token, token) for token in tokens]


def tokenize_for_metrics(text: str) -> list[str]:
    """The words of a sentence for the metrics of captions: lower case, without punctuation; brackets by their names.

    The metrics' own tokenizer, which needs Java, cuts 5 of Flickr8k's 35,000 captions otherwise (two with `'n'`, three
    with a typing error), 23 of 25,014 in MS-COCO's val2017 (most with an abbreviated street at the end), and 61 of
    145,000 in multi30k's training sentences (most with a hyphen or a full stop on the wrong side of a blank).
    """
    plain = _INNER_STOP.sub(r"\1 .", straighten_quotes(text).lower().translate(_DASHES).strip())
    tokens = TOKENIZER.tokenize(_ABBREVIATION_AT_END.sub(r"\g<0> .", plain))  # NLTK takes the last dot for a full stop
    return [_BRACKETS.get(token, token) for token in tokens if token not in _PUNCTUATION and token.strip(".")]


def detokenize(tokens: list[str]) -> str:
    """Joins tokens into a sentence, with punctuation in its place and hyphenated words rejoined."""
    joined: str = DETOKENIZER.detokenize(tokens)
    return joined.replace(" - ", "-")


def write_tokens(captions: str, output: str) -> None:
    """The job that cuts every sentence of a data set's CAPTIONS into words, and writes them as TOKENS."""
    rows = schema.read(captions, CAPTIONS, ["caption_id", "image_id", "split", "text"])
    texts = rows.pop("text")
    tokens = pd.Series([tokenize(text) for text in progress(texts, "sentences", len(texts))], dtype=object)
    schema.write(rows.assign(tokens=tokens), TOKENS, output)
