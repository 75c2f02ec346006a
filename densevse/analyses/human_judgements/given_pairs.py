"""Scores of judged pairs, from a given row."""

from collections.abc import Mapping
from pathlib import Path

from densevse.analyses.human_judgements.pair_scores import pair_scores
from densevse.analyses.human_judgements.schemas import JUDGEMENTS, PAIR_SCORES
from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.evaluation.given.retrieval import GivenRow, read_test, scorers
from densevse.evaluation.retrieval import versions


def write_given_pair_scores(
    files: Mapping[str, str], row: GivenRow, judgements: str, of: Identity, output: str | Path
) -> None:
    """Writes PAIR_SCORES of the judged pairs; of two matrices, that of i2t has the scores.

    `files` are as in `write_given_retrieval`. Raises `InputError` as that function and `pair_scores` do.
    """
    test = read_test(files["image_table"], files["caption_table"], "full", row.sentences)
    i2t, _ = scorers(files, row.layout, test, Path(output).parent)
    rows = pair_scores(i2t, test.rows, schema.read(judgements, JUDGEMENTS))
    settings = {"layout": row.layout.model_dump(), "contents": list(row.contents), "versions": versions()}
    schema.write(rows, PAIR_SCORES, output, lineage(settings, {"judgements": judgements}), of)
