"""Draws a ballot: random learned correspondences for people to judge (HM-LSTM, section 5.3.2).

The paper draws 2,000 pairs of a phrase and a region from all learned correspondences of the training data. A pair's
name contains a digest of what people see. After another training the same phrase may have another box, and votes on the
old pair must not count for the new one.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from densevse.analyses.votes.schemas import BALLOT
from densevse.artifacts import schema
from densevse.artifacts.boxes import BOX
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.phrase_boxes import PHRASE
from densevse.artifacts.schemas.features import CORRESPONDENCES
from densevse.artifacts.schemas.sentences import PARSES
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger

_SHOWN = ["image_id", *PHRASE, *BOX]


def draw_ballot(
    correspondences: str,
    parses: Sequence[str],
    output: str,
    pairs: int,
    seed: int,
    wildcards: Mapping[str, str],
) -> None:
    """The job that draws a variant's BALLOT from a CORRESPONDENCES artifact.

    `parses` are the shards of the sentences' PARSES. Raises `InputError` as `draw` does.
    """
    learned = schema.read(correspondences, CORRESPONDENCES)
    drawn = draw(learned, pairs, seed)
    sentences = schema.read_all(parses, PARSES, ["caption_id", "tokens"])
    rows = drawn.merge(sentences, on="caption_id", how="left", validate="many_to_one")
    logger.info("%d pairs, drawn from %d", len(rows), len(learned))
    made_from = lineage({"pairs": pairs, "seed": seed}, {"correspondences": correspondences, "parses": parses})
    schema.write(rows, BALLOT, output, made_from, Identity.of(wildcards))


def draw(learned: pd.DataFrame, pairs: int, seed: int) -> pd.DataFrame:
    """BALLOT rows without tokens: a number of random CORRESPONDENCES rows, or all if there are fewer.

    With the same seed a smaller ballot is the beginning of a larger one. Raises `InputError` if there are none.
    """
    if learned.empty:
        raise InputError("no correspondences were learned, so there are none to judge.")
    chosen = np.random.default_rng(seed).permutation(len(learned))[:pairs]
    drawn = learned.iloc[chosen][["phrase", *_SHOWN]].reset_index(drop=True)
    return drawn.assign(pair=[_name(number, shown) for number, shown in enumerate(drawn[_SHOWN].values.tolist(), 1)])


def _name(number: int, shown: list[str | int | float]) -> str:
    return f"{number}-{hashlib.sha256(json.dumps(shown).encode()).hexdigest()[:8]}"
