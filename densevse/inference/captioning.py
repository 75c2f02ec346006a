"""Writes sentences about the images of a split with a trained generator, ranks them, and stores them.

SC-NLM (Kiros et al. 2014, "Decoder") draws tag sequences from training and writes one sentence along each by beam
search. It ranks them by the translation score s(x, v), the similarity of image and sentence in the joint space, and an
n-gram model of the training sentences. A generator without structure takes the search's hypotheses. A generator without
a joint space ranks them by its own likelihood.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts import schema
from densevse.artifacts.identity import Identity
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.config.generators import Decoding
from densevse.config.strict import Strict
from densevse.data.contents import Contents, content_of_images
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.inference.candidates import Candidate, rated
from densevse.inference.encoding import batches, evaluation
from densevse.inference.generators import load_generator
from densevse.inference.models import described
from densevse.inference.spaces import read_space
from densevse.language.ngrams import KneserNey
from densevse.language.tags import read_tags
from densevse.language.tokens import detokenize
from densevse.language.words import spoken
from densevse.methods.generators.beam_search import Hypotheses, beam_search
from densevse.methods.generators.interface import END, Generator
from densevse.methods.interface import device_of
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger, progress
from densevse.runtime.numerics import set_up

if TYPE_CHECKING:  # imported for type checks only, so that its code counts only for generators that read tags
    from densevse.data.structures.tags import TagsOfSentences

HYPOTHESES_AT_ONCE = 1280
NO_TAGS: tuple[int, ...] = ()


@dataclass(frozen=True)
class TagSequences:
    """The tag sequences of training, some of which are chosen for each image."""

    sequences: Sequence[tuple[int, ...]]
    counts: NDArray[np.int64]  # the number of training sentences with each sequence

    def of_image(self, image: int, decoding: Decoding, seed: int) -> list[tuple[int, ...]]:
        """The tag sequences along which sentences about an image are written."""
        if decoding.choice_of_tags == "drawn":
            return self.draw(decoding.tag_sequences, seed, image)
        return self.most_frequent(decoding.tag_sequences)

    def draw(self, number: int, seed: int, image: int) -> list[tuple[int, ...]]:
        """Draws distinct sequences for an image, in proportion to their frequency; all of them if there are fewer."""
        if number >= len(self.sequences):
            return list(self.sequences)
        random = np.random.default_rng((seed, image))
        drawn = random.choice(len(self.sequences), number, replace=False, p=self.counts / self.counts.sum())
        return [self.sequences[place] for place in sorted(drawn)]

    def most_frequent(self, number: int) -> list[tuple[int, ...]]:
        """The most frequent sequences; ties are broken by order."""
        return [self.sequences[place] for place in self._by_frequency[:number]]

    @cached_property
    def _by_frequency(self) -> NDArray[np.intp]:
        return np.argsort(-self.counts, kind="stable")


class CaptionJob(Strict):
    """The settings that decide which sentences are written."""

    decoding: Decoding
    seed: int
    threads: int
    code: str = ""


def write_captions(files: Files, of: Identity, job: CaptionJob, path: str | Path) -> None:
    """Writes GENERATED sentences about the images of the split of `of`, with the trained generator `model`.

    The input `space` is the model of the generator's joint space, if it has one. Raises `InputError` if that model has
    no space of vectors, or reads more of sentences than their words.
    """
    device = set_up(job.threads)
    inputs = Inputs(files, described(files.one("model"))["sentences"])
    split = str(of.split)
    pairs = inputs.pairs(split)
    images = content_of_images(inputs, pairs, split)
    generator = load_generator(files.one("model"), inputs, images.size).to(device)
    candidates = _written(inputs, generator, images, job)
    if "joint_embedding" in files:
        numbered = map(inputs.vocabulary.encode, _training_tokens(inputs))
        model = KneserNey(numbered, job.decoding.ngram, len(inputs.vocabulary))
        purpose, advice = (
            "generated sentences can be rated",
            "Name another variant as the generator's `joint_embedding`.",
        )
        space = read_space(files.one("joint_embedding"), purpose, advice).to(device)
        candidates = rated(candidates, images, space, model)
    known = set(map(spoken, _training_tokens(inputs)))
    rows = _rows(candidates, pairs.rows.image_ids, inputs, job.decoding, known)
    # Without the split: a model trained on the sentences of all splits has them as one parent.
    settings = {"decoding": job.decoding.model_dump(mode="json"), "seed": job.seed}
    parents = {
        "generator": files.several("model"),
        "joint_embedding": files.several("joint_embedding") if "joint_embedding" in files else [],
    }
    schema.write(rows, GENERATED, path, lineage(settings, parents), of)


def _training_tokens(inputs: Inputs) -> Iterator[list[str]]:
    for part in schema.read_parts([inputs.files.one("tokens")], TOKENS, ["split", "tokens"]):
        yield from part.loc[part["split"] == "train", "tokens"]


def _written(inputs: Inputs, generator: Generator, images: Contents, job: CaptionJob) -> list[Candidate]:
    """The distinct sentences that the search finds about each image."""
    with evaluation(generator):
        if generator.follows_tags:
            found = _along_tags(generator, images, _tag_sequences(inputs, job.decoding), job)
        else:
            found = _without_tags(generator, images, job.decoding)
    # Equal sentences may come from different tags: keep the most likely.
    by_likelihood = sorted(found, key=lambda one: one.log_likelihood)
    distinct = list({(one.image, one.words): one for one in by_likelihood}.values())
    logger.info("%d different sentences about %d images", len(distinct), len(images))
    return distinct


def _tag_sequences(inputs: Inputs, decoding: Decoding) -> TagSequences:
    structure = cast("TagsOfSentences", inputs.pairs("train").structures["tags"])
    sequences, counts = structure.sequences(decoding.longest_sentence)
    if not sequences:
        raise InputError(
            f"no training sentence of at most {decoding.longest_sentence} words has part-of-speech tags to write "
            "along: look at the status of the parses, or raise decoding.longest_sentence of the generator."
        )
    return TagSequences(sequences, counts)


def _along_tags(generator: Generator, images: Contents, sequences: TagSequences, job: CaptionJob) -> list[Candidate]:
    """The best sentence along each tag sequence of each image; sequences of one length are searched together."""
    decoding = job.decoding
    asked = [(tags, image) for image in range(len(images)) for tags in sequences.of_image(image, decoding, job.seed)]
    by_length: dict[int, list[tuple[tuple[int, ...], int]]] = {}
    for tags, image in asked:
        by_length.setdefault(len(tags), []).append((tags, image))
    size = max(1, HYPOTHESES_AT_ONCE // decoding.beam)
    groups = [(same, rows) for _, same in sorted(by_length.items()) for rows in batches(len(same), size)]
    found = []
    for same, rows in progress(groups, "tag sequences", len(groups)):
        some = [same[row] for row in rows]
        numbers = np.array([image for _, image in some])
        along = torch.tensor([tags for tags, _ in some])
        written = _search(generator, images.take(numbers), along, decoding)
        best, likelihood = written.words[:, 0].tolist(), written.log_likelihood[:, 0].tolist()
        found += [
            Candidate(image, _before_end(words), tags, likely)
            for (tags, image), words, likely in zip(some, best, likelihood, strict=True)
        ]
    return found


def _without_tags(generator: Generator, images: Contents, decoding: Decoding) -> list[Candidate]:
    """All hypotheses of the search for each image."""
    found = []
    groups = batches(len(images), max(1, HYPOTHESES_AT_ONCE // decoding.beam))
    for rows in progress(groups, "images", len(groups)):
        written = _search(generator, images.take(rows), None, decoding)
        for image, words, likelihood in zip(rows, written.words.tolist(), written.log_likelihood.tolist(), strict=True):
            found += [
                Candidate(int(image), _before_end(one), NO_TAGS, likely)
                for one, likely in zip(words, likelihood, strict=True)
                if likely > -np.inf
            ]
    return found


def _search(generator: Generator, content: Tensor, tags: Tensor | None, decoding: Decoding) -> Hypotheses:
    device = device_of(generator)
    along = None if tags is None else tags.to(device)
    return beam_search(generator, content.to(device), along, decoding.beam, decoding.longest_sentence)


def _before_end(words: list[int]) -> tuple[int, ...]:
    return tuple(words[: words.index(END)] if END in words else words)


def _rows(
    candidates: list[Candidate],
    image_ids: NDArray[np.object_],
    inputs: Inputs,
    decoding: Decoding,
    known: set[tuple[str, ...]],
) -> pd.DataFrame:
    """GENERATED rows of the best candidates of each image, by image in table order, then rank.

    Equal scores are ordered by their words' numbers; `known` are the training sentences.
    """
    weight = decoding.language_weight
    tag_names = read_tags(inputs.files.one("tags")) if "tags" in inputs.files else None
    ordered = sorted(candidates, key=lambda one: (one.image, -one.score(weight), one.words))
    rows: list[dict[str, Any]] = []
    for image, group in groupby(ordered, lambda one: one.image):
        for rank, one in enumerate(islice(group, decoding.kept), start=1):
            tokens = inputs.vocabulary.decode(one.words)
            rows.append(
                {
                    "image_id": image_ids[image],
                    "rank": rank,
                    "sentence": detokenize(tokens),
                    "tokens": tokens,
                    "score": one.score(weight),
                    "log_likelihood": one.log_likelihood,
                    "translation": one.translation,
                    "language": one.language,
                    "tags": tag_names.decode(one.tags) if tag_names else [],
                    "in_training": spoken(tokens) in known,
                }
            )
    frame = pd.DataFrame(rows, columns=[column.name for column in GENERATED.columns])
    return frame.astype({"translation": "Float64", "language": "Float64"})
