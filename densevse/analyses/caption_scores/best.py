"""The best of the sentences about an image, by CIDEr against its first sentence: an oracle of the choice (ours)."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pandas as pd
from pycocoevalcap.cider.cider import Cider

from densevse.analyses.caption_scores.plan import writer_with_oracle
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.datasets import CAPTIONS
from densevse.language.tokens import compared
from densevse.runtime.arrays import Reals
from densevse.runtime.errors import InputError


def choose_best(captions: str, generated: str, wildcards: Mapping[str, str], output: str) -> None:
    """The job that writes the best GENERATED sentence about each image, with its CIDEr as its score.

    A tie keeps the first in rank. `generated` are sentences of a generator with an oracle. Raises `InputError` if an
    image has no sentence by a person.
    """
    people = schema.read(captions, CAPTIONS, ["image_id", "position", "text"])
    first = people.sort_values("position", kind="stable").drop_duplicates("image_id").set_index("image_id")["text"]
    rows = schema.read(generated, GENERATED)
    unknown = rows.loc[~rows["image_id"].isin(first.index), "image_id"]
    if len(unknown):
        raise InputError(f"{captions}: the image {unknown.iloc[0]!r} has no sentence to choose by.")
    rows["score"] = 0.0
    references = {image: " ".join(compared(first[image])) for image in rows["image_id"].unique()}
    sentences = [" ".join(compared(sentence)) for sentence in rows["sentence"]]
    for _, same in rows.groupby("rank"):
        rows.loc[same.index, "score"] = _cider([sentences[row] for row in same.index], same["image_id"], references)
    ordered = rows.sort_values(["score", "rank"], ascending=[False, True], kind="stable")
    best = ordered.drop_duplicates("image_id").sort_index().assign(rank=1)
    made_from = lineage({"selection": "best"}, {"captions": captions, "generated": generated})
    identity = Identity.of(wildcards)
    writer = writer_with_oracle(str(identity.variant), wildcards["oracle"], "best")
    schema.write(best, GENERATED, output, made_from, replace(identity, variant=writer))


def _cider(sentences: Sequence[str], images: pd.Series, references: dict[str, str]) -> Reals:
    """CIDEr of one sentence about each of some images; document frequencies are those of all `references`."""
    found = {image: [""] for image in references} | {
        image: [text] for image, text in zip(images, sentences, strict=True)
    }
    _, scores = Cider().compute_score({image: [text] for image, text in references.items()}, found)
    place = {image: row for row, image in enumerate(references)}
    chosen: Reals = scores[[place[image] for image in images]]
    return chosen
