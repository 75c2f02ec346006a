"""Sentences that a generator writes when it is told a part of a reference: its tags, its content, or both (ours).

The reference is an image's first sentence; the others are left to score with. Tags take the place of the sequences of
training. Content, the sentence's vector in the joint space, takes the place of the image's vector, in writing and in
the translation score.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast, get_args

import numpy as np

from densevse.analyses.caption_scores.settings import writer_with_oracle
from densevse.artifacts.identity import Identity
from densevse.config.methods import Ranking
from densevse.data.contents import JOINT_EMBEDDING, Contents, Embedded
from densevse.data.files import Files
from densevse.data.inputs import Pairs
from densevse.models.captioning import Along, CaptionJob, CaptionWriter, rank_candidates
from densevse.runtime.arrays import Indices
from snakeproof.errors import InputError
from snakeproof.strict import validate

if TYPE_CHECKING:
    from densevse.methods.structures import Tags


def write_oracle_captions(
    job: Mapping[str, Any],
    wildcards: Mapping[str, str],
    translation: str,
    likelihood: str,
    joint_likelihood: str,
    **files: str | list[str],
) -> None:
    """The job that writes GENERATED sentences about each image of a split, a file for each ranking.

    `job` has the settings of `CaptionJob`, and `files` are as in `CaptionWriter`. `decoding.kept` sentences are kept by
    translation score, for the choice of the best, and one by each likelihood. Raises `InputError` if no image has two
    sentences, if an image has none, or if the generator cannot be told what the oracle knows.
    """
    settings, identity, oracle = (
        validate(CaptionJob, job, "captions"),
        Identity.from_wildcards(wildcards),
        wildcards["oracle"],
    )
    paths = {"translation": translation, "likelihood": likelihood, "joint_likelihood": joint_likelihood}
    read = Files(files)
    writer = CaptionWriter(read, str(identity.split), settings)
    first = _first_sentence_rows(writer.pairs)
    contents = _sentence_content(read, identity, writer.pairs, first) if "content" in oracle else writer.images
    if "tags" in oracle:
        tags: list[Along] | None = _sentence_tags(writer, identity, first)
    else:
        tags = writer.tags_of_training() if writer.follows_tags else None
    candidates = writer.candidates(contents, tags)
    for ranking in get_args(Ranking):
        kept = settings.decoding.kept if ranking == "translation" else 1
        decoding = settings.decoding.model_copy(update={"ranking": ranking, "kept": kept})
        variant = writer_with_oracle(str(identity.variant), oracle, ranking)
        writer.write(rank_candidates(candidates, decoding), decoding, paths[ranking], variant=variant)


def _first_sentence_rows(pairs: Pairs) -> Indices:
    """(images,) the row of the first sentence of each image."""
    ids = pairs.rows.image_ids
    sentences = np.bincount(pairs.rows.image_of_caption, minlength=len(ids))
    if sentences.max() < 2:
        raise InputError("no image of the split has two sentences: an oracle knows one, and the others are references.")
    if not sentences.all():
        raise InputError(f"the image {ids[int(sentences.argmin())]!r} has no sentence, which an oracle would know.")
    return np.cumsum(sentences) - sentences


def _sentence_content(files: Files, identity: Identity, pairs: Pairs, sentences: Indices) -> Contents:
    path = f"{JOINT_EMBEDDING}{identity.split}"
    if path not in files:
        raise InputError(_refusal(identity, "content", "it has no joint space, in which a sentence is a vector"))
    return Embedded(files.input_path(path), "sentence", pairs.rows.caption_ids[sentences])


def _sentence_tags(writer: CaptionWriter, identity: Identity, sentences: Indices) -> list[Along]:
    """The one sequence of each sentence; a sentence that could not be parsed has as many unknown tags as words."""
    if not writer.follows_tags:
        raise InputError(_refusal(identity, "tags", "it follows no tags"))
    found = cast("Tags", writer.pairs.structures["tags"].take(sentences))
    return [
        {tuple(tags[:length]): 0.0} for tags, length in zip(found.tags.tolist(), found.lengths.tolist(), strict=True)
    ]


def _refusal(identity: Identity, part: str, why: str) -> str:
    where = f"caption_scores.{identity.dataset}.oracles.generators.{identity.variant}"
    return f"{where}: {identity.variant} cannot be told the {part} of a sentence, as {why}; leave the oracle out."
