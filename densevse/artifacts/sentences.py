"""Sentences from outside, as readers, given files, searches and programs have them."""

import html
import re
from html.entities import html5
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

_INLINE = "a|abbr|b|big|cite|code|del|em|font|i|img|ins|kbd|mark|q|s|small|span|strike|strong|sub|sup|tt|u"
_BREAKING = "blockquote|br|center|dd|div|dl|dt|h[1-6]|hr|li|ol|p|pre|table|tbody|td|th|tr|ul"
_TAG = re.compile(rf"</?(?:{_INLINE}|(?P<breaks>{_BREAKING}))(?:\s[^<>]*)?/?>|<!--[^<>]*>", re.IGNORECASE)
_ENTITY = re.compile(r"&(#\d+|#[xX][0-9a-fA-F]+|\w+);")
_QUOTED = r"""[bu]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""  # Python quotes It's by "
_NULL = "(?:null|None|nan)"
_LIST = re.compile(
    rf"""\s*(?:[\[({{\s]*[\[{{]\s*(?:{_NULL}\s*,\s*)*[bu]?['"].*['"](?:\s*,\s*{_NULL})*[\s\])}},]*[\])}}]"""
    rf"""|\(\s*{_QUOTED}\s*,(?:\s*{_QUOTED}\s*,?)*\s*\)|\[\s*\])\s*""",
    re.DOTALL,
)


def clean_sentence(text: str) -> str:
    """A sentence in one line, without HTML's own tags, whose text stays, and with its entities decoded once.

    Other words in angle brackets stay, such as <unk>, and so does a < b.
    """
    if "<" in text:
        text = _TAG.sub(lambda tag: " " if tag["breaks"] else "", text)
    if "&" in text:
        text = _ENTITY.sub(_decode_entity, text)
    return " ".join(text.splitlines()).strip()


def _decode_entity(entity: re.Match[str]) -> str:
    # `unescape` alone also decodes the beginning of a longer name.
    is_known = entity[1].startswith("#") or f"{entity[1]};" in html5
    return html.unescape(entity[0]) if is_known else entity[0]


def find_lists(rows: pd.DataFrame) -> dict[str, NDArray[Any]]:
    """The sentences that are a list written as text. A rule of artifacts."""
    problem = "its text is a list of sentences; write a row for each, or a table of pairs with sentences_as: json"
    return {problem: np.array([_LIST.fullmatch(text) is not None for text in rows["text"]], dtype=bool)}
