"""Part-of-speech tags of the training sentences, and their numbers."""

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path

import pandas as pd

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.artifacts.schemas.sentences import PARSES, TAGS
from densevse.language.parses import OK
from densevse.language.words import UNKNOWN, Vocabulary
from densevse.runtime.errors import InputError


def count_tags(sentences: Iterable[Iterable[str]]) -> pd.DataFrame:
    """Count the tags of sentences; rows of TAGS, by falling count, numbered from 2 as words are.

    Raises `InputError` if there is no tag.
    """
    counts = Counter(tag for tags in sentences for tag in tags)
    if not counts:
        raise InputError("the training sentences' parses have no part-of-speech tags; check their status.")
    ordered = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))
    rows = pd.DataFrame(ordered, columns=["tag", "count"])
    return rows.assign(index=range(UNKNOWN + 1, UNKNOWN + 1 + len(rows)))


def write_tags(captions: str, parses: Sequence[str], output: str) -> None:
    """The job that counts the tags of training sentences, and writes them as TAGS; see `count_tags`."""
    splits = schema.read(captions, CAPTIONS, ["caption_id", "split"])
    training = set(splits.loc[splits["split"] == "train", "caption_id"])
    parts = schema.read_parts(parses, PARSES, ["caption_id", "status", "tags"])
    sentences = chain.from_iterable(part.itertuples(index=False) for part in parts)
    tags = (found for caption_id, status, found in sentences if status == OK and caption_id in training)
    made_from = lineage({"split": "train"}, {"captions": captions, "parses": parses})
    schema.write(count_tags(tags), TAGS, output, made_from)


def read_tags(path: str | Path) -> Vocabulary:
    """The tags of a TAGS artifact with their numbers; 0 is padding, 1 a tag that training never had."""
    return Vocabulary(schema.read(path, TAGS, ["tag"])["tag"])
