"""Ensembles of methods, which add up their members' scores."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from densevse.artifacts.identity import Identity
from densevse.config.strict import RankedSentences
from densevse.data.files import Files
from densevse.evaluation.ranks import ScoreBlock
from densevse.evaluation.retrieval import Scorer
from densevse.models.retrieval import encode_test, write_retrieval
from densevse.runtime.arrays import Indices


def retrieve_by_ensemble(
    models: Sequence[str],
    ranked_sentences: RankedSentences,
    top: int,
    threads: int,
    wildcards: Mapping[str, str],
    output: str,
    **files: str | list[str],
) -> None:
    """The job that ranks the test split by the members of an ensemble; `files` are the inputs of its `models`.

    Raises `InputError` as `encode_test` does.
    """
    encoded = encode_test(Files(files), models, threads, ranked_sentences)
    of = Identity.of(wildcards, split="test")
    members = {f"member{number}": model for number, model in enumerate(models)}
    write_retrieval(summed(encoded.scorers), encoded, of, members, output, top)


def summed(scorers: Sequence[Scorer]) -> Scorer:
    """The scores of an ensemble: sums of its members' scores, block by block (sm-LSTM*, section 4.2)."""

    def of_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        members = [scorer(image_rows, sentence_rows) for scorer in scorers]

        def score_block(image: slice, sentence: slice) -> Tensor:
            return torch.stack([member(image, sentence) for member in members]).sum(dim=0)

        return score_block

    return of_rows
