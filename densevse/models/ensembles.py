"""Retrieval on the test split by an ensemble: the scores of trained models, and given ones, are added up."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.given import GivenLayout
from densevse.config.values import RankedSentences
from densevse.data.files import Files
from densevse.evaluation.given.retrieval import read_test, scorers
from densevse.evaluation.retrieval import Scorer, retrieve_by_direction, versions
from densevse.evaluation.tiles import ScoreBlock
from densevse.models.retrieval import EncodedTest, encode_test
from densevse.runtime.arrays import Indices, as_array
from snakeproof import schema
from snakeproof.strict import validate


class GivenMember(NamedTuple):
    """A given row in an ensemble: its name, its files by their keys, and the meaning of their rows and columns."""

    name: str
    files: Mapping[str, str]
    layout: GivenLayout

    def description(self) -> dict[str, Any]:
        """The member as tables name it, without the folders of its files."""
        files = {key: Path(path).name for key, path in self.files.items()}
        return {"name": self.name, "given": files, "layout": self.layout.model_dump()}


def retrieve_by_ensemble(
    inputs_of_models: Sequence[Sequence[str]],
    given_members: Sequence[Mapping[str, Any]],
    ranked_sentences: RankedSentences,
    top: int,
    threads: int,
    wildcards: Mapping[str, str],
    output: str,
    models: Sequence[str] = (),
    given: Sequence[str] = (),
    **files: str | list[str],
) -> None:
    """The job that ranks the test split by the members of an ensemble.

    `files` are the inputs of all its `models`, of which each reads its own `inputs_of_models`. `given_members` are
    given rows: the name of each, its `layout`, and the `keys` of its files, which stand in `given` one member after
    the other. Raises `InputError` as `encode_test` and `write_given_retrieval` do.
    """
    inputs = Files(files)
    test = read_test(
        inputs.input_path("image_table"), inputs.input_path("caption_table"), wildcards["protocol"], ranked_sentences
    )
    own = {model: inputs.select_inputs(names) for model, names in zip(models, inputs_of_models, strict=True)}
    encoded = EncodedTest([], test.rows, {"device": "cpu", "versions": versions()})
    if own:
        encoded = encode_test(own, threads, ranked_sentences)
    members = list(_members(given_members, given))
    read = [scorers(member.files, member.layout, test, Path(output).parent) for member in members]
    i2t, t2i = (sum_scorers([*encoded.scorers, *(both[direction] for both in read)]) for direction in (0, 1))
    one_way = all(of_images is of_sentences for of_images, of_sentences in read)
    rows = retrieve_by_direction(i2t, i2t if one_way else t2i, test.rows, test.folds, top)
    named = [member.description() for member in members]
    schema.write(rows, RETRIEVAL, output, split="test", **encoded.made_with, given_members=named)


def sum_scorers(members: Sequence[Scorer]) -> Scorer:
    """A scorer whose scores are the sums of its members' scores, block by block (sm-LSTM*, section 4.2).

    If some are arrays, as given ones are, the sums are arrays of float64; otherwise they are tensors.
    """

    def score_rows(image_rows: Indices, sentence_rows: Indices) -> ScoreBlock:
        of_members = [member(image_rows, sentence_rows) for member in members]

        def score_block(image: slice, sentence: slice) -> Any:
            blocks = [member(image, sentence) for member in of_members]
            if any(isinstance(block, np.ndarray) for block in blocks):
                return np.sum([as_array(block) for block in blocks], axis=0, dtype=np.float64)
            return torch.stack(blocks).sum(dim=0)

        return score_block

    return score_rows


def _members(described: Sequence[Mapping[str, Any]], files: Sequence[str]) -> Iterator[GivenMember]:
    paths = iter(files)
    for one in described:
        own = {key: next(paths) for key in one["keys"]}
        yield GivenMember(one["name"], own, validate(GivenLayout, one["layout"], one["name"]))
