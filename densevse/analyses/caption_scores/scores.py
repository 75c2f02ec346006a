"""Scores sentences about a split's images against people's sentences, as CAPTION_SCORES.

There are two sets of references: all of an image's sentences, and all but the first. A person's sentence, the first,
can only be compared with the others, so every row of a table is measured against these too.
"""

from collections.abc import Collection
from typing import Any

import pandas as pd

from densevse.analyses.caption_scores.metrics import measured
from densevse.artifacts import schema
from densevse.artifacts.families import families_of
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.captions import ALL, CAPTION_SCORES, GENERATED, OTHER_REFERENCES
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.language.tokens import compared
from densevse.runtime.errors import InputError


def score_captions(
    images_path: str,
    captions_path: str,
    generated: str,
    of: Identity,
    metrics: Collection[str],
    spice: str | None,
    path: str,
) -> None:
    """Scores the first sentence about each image of the split that `of` names, and writes CAPTION_SCORES.

    An image without a generated sentence has no row. Raises `InputError` if no such image has two sentences by people.
    """
    captions = schema.read(captions_path, CAPTIONS, ["image_id", "position", "split", "text"])
    people = captions[captions["split"] == of.split].sort_values("position", kind="stable")
    rows = schema.read(generated, GENERATED, ["image_id", "rank", "sentence", "in_training"])
    first = rows[rows["rank"] == 1].set_index("image_id")
    families = families_of(images_path)
    people["text"] = [" ".join(compared(text)) for text in people["text"]]
    found = []
    for name, references in ((ALL, people), (OTHER_REFERENCES, people[people["position"] > 0])):
        texts = references.groupby("image_id", sort=False)["text"].agg(list)
        found.append(_scored(name, first, texts, metrics, spice))
    scores = pd.concat(found, ignore_index=True)
    scores["family"] = families[scores["image_id"]].to_numpy()
    settings = {"split": of.split, "metrics": sorted(metrics)}
    made_from = lineage(settings, {"captions": captions_path, "generated": generated})
    schema.write(scores, CAPTION_SCORES, path, made_from, of)


def _scored(
    name: str, first: pd.DataFrame, texts: pd.Series, metrics: Collection[str], spice: str | None
) -> pd.DataFrame:
    """The rows for one set of references, for images with references, in the order of `first`."""
    asked = first[first.index.isin(texts.index)]
    if asked.empty:
        raise InputError(f"no image of the split has a sentence to compare with (references: {name}).")
    words = [compared(sentence) for sentence in asked["sentence"]]
    references = [texts[image] for image in asked.index]
    rows = measured([" ".join(sentence) for sentence in words], references, metrics, spice)
    described: dict[str, Any] = {"image_id": asked.index, "references": name, "words": words}
    return rows.assign(**described, in_training=asked["in_training"].to_numpy())
