"""Given scores of the judged pairs alone, as caption metrics have: a file of images, sentences and scores."""

import numpy as np
import pandas as pd
import pyarrow as pa

from densevse.analyses.human_judgements.judgements import JUDGEMENTS, PAIR_SCORES
from densevse.artifacts.schemas.datasets import CAPTIONS
from snakeproof import schema
from snakeproof.errors import InputError

_PAIR = ["image_id", "caption_id"]


def write_scored_pairs(scores: str, captions: str, judgements: str, output: str) -> None:
    """The job that writes PAIR_SCORES from a file of scores, without centred ones, which need the scores of all pairs.

    Raises `InputError` as `read_scores` and `match_scores` do.
    """
    judged = schema.read(judgements, JUDGEMENTS, _PAIR).drop_duplicates(ignore_index=True)
    judged = judged.merge(schema.read(captions, CAPTIONS, ["caption_id", "text"]), on="caption_id")
    found = match_scores(judged, read_scores(scores), scores)
    schema.write(found.assign(centred=np.nan), PAIR_SCORES, output, split="test")


def read_scores(path: str) -> pd.DataFrame:
    """The columns image_id, caption_id or text, and score of a CSV or Parquet file.

    Raises `InputError` that names a missing column, a score that is not a finite number, or a pair that stands twice.
    """
    try:
        found = pd.read_parquet(path) if path.endswith(".parquet") else pd.read_csv(path, dtype=str, na_filter=False)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise InputError(f"{path}: not readable as scores ({error}); write a CSV in UTF-8, or Parquet.") from error
    sentence = "caption_id" if "caption_id" in found else "text"
    missing = [name for name in ("image_id", sentence, "score") if name not in found]
    if missing:
        raise InputError(f"{path}: no column {missing[0]}; it needs image_id, caption_id or text, and score.")
    pairs = found[["image_id", sentence]].astype(str)
    pairs["score"] = pd.to_numeric(found["score"], errors="coerce").astype(np.float64)
    _refuse_row(path, pairs, ~np.isfinite(pairs["score"]), "a score that is not a finite number; correct it")
    _refuse_row(path, pairs, pairs.duplicated(["image_id", sentence]), "a line before this one; keep one of them")
    return pairs


def match_scores(judged: pd.DataFrame, scores: pd.DataFrame, path: str) -> pd.DataFrame:
    """The image_id, caption_id and score of each of the `judged` pairs, which also have their text.

    `scores` is as from `read_scores`; pairs that nobody judged are left out. Raises `InputError` for pairs without a
    score.
    """
    found = judged.merge(scores, how="left", on=[*scores.columns[:2]], validate="many_to_one")
    absent = found["score"].isna()
    if absent.any():
        image, caption = found.loc[absent, _PAIR].iloc[0]
        raise InputError(
            f"{path}: {absent.sum():,} of {len(found):,} judged pairs have no score, among them image {image!r} with "
            f"sentence {caption!r}; add their lines."
        )
    return found[[*_PAIR, "score"]]


def _refuse_row(path: str, pairs: pd.DataFrame, wrong: pd.Series, what: str) -> None:
    if wrong.any():
        row = int(np.argmax(wrong.to_numpy()))
        image, sentence = pairs.iloc[row, :2]
        raise InputError(f"{path}, row {row + 1}: image {image!r} with sentence {sentence!r} has {what}.")
