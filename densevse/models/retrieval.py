"""Retrieval on the test split by a trained model: encodes everything once, then scores any part."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from densevse.artifacts.schemas.retrieval import RETRIEVAL
from densevse.config.values import RankedSentences
from densevse.data.files import Files
from densevse.evaluation.protocols import TestSet, folds
from densevse.evaluation.retrieval import Scorer, retrieve, versions
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.files import check_round, described, open_model
from densevse.models.scoring import scorer
from densevse.runtime.numerics import set_up
from snakeproof import schema


class EncodedTest(NamedTuple):
    """The test split as encoded by models."""

    scorers: list[Scorer]  # one entry for each model
    rows: TestSet
    made_with: dict[str, Any]  # the devices of encoding and of training, versions of packages, and sentences cut


def retrieve_test(
    model: str,
    ranked_sentences: RankedSentences,
    top: int,
    threads: int,
    wildcards: Mapping[str, str],
    output: str,
    **files: str | list[str],
) -> None:
    """The job that ranks the test split by a trained model under a protocol, and writes RETRIEVAL rows.

    They have the `top` best candidates of each query; `files` are the model's inputs. Raises `InputError` as
    `encode_test` does.
    """
    check_round(model, wildcards)
    encoded = encode_test({model: Files(files)}, threads, ranked_sentences)
    rows = retrieve(encoded.scorers[0], encoded.rows, folds(encoded.rows, wildcards["protocol"]), top=top)
    schema.write(rows, RETRIEVAL, output, split="test", **encoded.made_with)


def encode_test(models: Mapping[str, Files], threads: int, sentences: RankedSentences = "all") -> EncodedTest:
    """Encodes the test split, with the `sentences` of its data set's settings, by each of the trained `models`.

    `models` has the inputs of each, by its path. Raises `InputError` as `open_model` does, or if no readable image of
    the split has a sentence.
    """
    device = set_up(threads)
    scorers, cut = [], 0
    for model, files in models.items():
        inputs, method = open_model(files, model, device)
        pairs = inputs.pairs("test", method.regions_read, sentences=sentences)
        scorers.append(scorer(method, encode_images(method, pairs), encode_sentences(method, pairs)))
        cut = max(cut, sum(structure.cut for structure in pairs.structures.values()))
    trained = [described(model) for model in models]
    made_with = {
        "device": device.type,
        "trained_on": ", ".join(sorted({model["device"] for model in trained})),
        "trained_in": ", ".join(sorted({model.get("computed_in", "float32") for model in trained})),
        "versions": versions(),
    }
    if cut:
        made_with["cut"] = f"{cut:,} of {len(pairs.rows.caption_ids):,}"
    return EncodedTest(scorers, pairs.rows, made_with)
