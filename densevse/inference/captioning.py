"""Sentences about the images of a split: written by a trained generator, ranked, and an artifact.

SC-NLM (Kiros et al. 2014, "Decoder"): along tag sequences that are drawn from training, a beam search writes one
sentence each; of these come first those that score highest by the translation score s(x, v), the likeness of image and
sentence in the joint space, and an n-gram model of the training sentences. A generator without structure gives the
search's hypotheses, and one that works in no joint space ranks them by its own likelihood.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts import schema
from densevse.artifacts.lineage import lineage
from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.tokens import TOKENS
from densevse.batches.contents import Embedded, ViewOfImages, content_of_images
from densevse.batches.files import Files
from densevse.batches.inputs import Inputs
from densevse.batches.structures.tags import TagsOfSentences
from densevse.errors import InputError
from densevse.inference.encoding import batches, evaluation
from densevse.inference.generators import load_generator
from densevse.inference.models import described, load_model
from densevse.language.ngrams import KneserNey
from densevse.language.tags import read_tags
from densevse.language.tokens import detokenize
from densevse.language.words import spoken
from densevse.logs import logger, progress
from densevse.methods.generators.beam_search import Hypotheses, beam_search
from densevse.methods.generators.interface import END, Generator
from densevse.methods.interface import DualEncoder, Sentences
from densevse.methods.structures import words_of
from densevse.numerics import set_up
from densevse.settings.generators import Decoding
from densevse.strict import Strict

HYPOTHESES_AT_ONCE = 1280
SENTENCES_AT_ONCE = 512
NO_TAGS: tuple[int, ...] = ()


@dataclass(frozen=True)
class Candidate:
    """A sentence about an image that has not been ranked yet."""

    image: int  # its number in the split
    words: tuple[int, ...]
    tags: tuple[int, ...]
    log_likelihood: float
    translation: float | None = None
    language: float | None = None

    def score(self, language_weight: float) -> float:
        """What it is ranked by."""
        if self.translation is None or self.language is None:
            return self.log_likelihood
        return self.translation + language_weight * self.language


@dataclass(frozen=True)
class TagSequences:
    """The tag sequences of training, of which some are drawn for each image."""

    sequences: Sequence[tuple[int, ...]]
    counts: NDArray[np.int64]  # how many training sentences have each

    def draw(self, number: int, seed: int, image: int) -> list[tuple[int, ...]]:
        """Different sequences for an image, each as likely as it is frequent; all, where there are not so many."""
        if number >= len(self.sequences):
            return list(self.sequences)
        random = np.random.default_rng((seed, image))
        drawn = random.choice(len(self.sequences), number, replace=False, p=self.counts / self.counts.sum())
        return [self.sequences[place] for place in sorted(drawn)]


class CaptionJob(Strict):
    """All that decides which sentences are written, besides the files."""

    decoding: Decoding
    seed: int
    threads: int
    code: str = ""


def write_captions(files: Files, split: str, job: CaptionJob, path: str | Path) -> None:
    """Write GENERATED sentences about a split's images with a trained generator, the file's input `model`.

    Where it works in a joint space, that model is the input `space`. Raises `InputError` if it is no space of vectors,
    or reads more of sentences than their words.
    """
    device = set_up(job.threads)
    inputs = Inputs(files, described(files.one("model"))["sentences"])
    content = content_of_images(inputs, inputs.pairs(split), split)
    generator = load_generator(files.one("model"), inputs, content.size).to(device)
    space = _space(files.one("space")).to(device) if "space" in files else None
    rows = captions(inputs, generator, space, split, job.decoding, job.seed)
    settings = {"split": split, "decoding": job.decoding.model_dump(mode="json"), "seed": job.seed}
    parents = {"generator": files.several("model"), "space": files.several("space") if "space" in files else []}
    schema.write(rows, GENERATED, path, lineage(settings, parents))


def captions(
    inputs: Inputs, generator: Generator, space: DualEncoder | None, split: str, decoding: Decoding, seed: int
) -> pd.DataFrame:
    """GENERATED rows of a split's images, by image in table order, then rank.

    `space` is the model of the joint space that the generator works in, where it does. Raises `InputError` if no
    training sentence has tags to write along.
    """
    pairs = inputs.pairs(split)
    content, images = content_of_images(inputs, pairs, split), pairs.rows.image_ids
    sequences = _tag_sequences(inputs, decoding) if generator.follows_tags else None
    with evaluation(generator):
        found = (
            _without_tags(generator, content, len(images), decoding)
            if sequences is None
            else _along_tags(generator, content, len(images), sequences, decoding, seed)
        )
    distinct = list({(one.image, one.words): one for one in sorted(found, key=lambda one: one.log_likelihood)}.values())
    logger.info("%s: %d different sentences about %d images", split, len(distinct), len(images))
    if space is not None:
        distinct = _rated(distinct, content, space, inputs, decoding)
    return _rows(distinct, images, inputs, decoding)


def _space(path: str) -> DualEncoder:
    sentences, space = described(path)["sentences"], load_model(path)
    if not isinstance(space, DualEncoder) or sentences != ["words"]:
        raise InputError(
            f"{path}: sentences that are generated can only be rated by a model whose images and sentences are vectors "
            f"of one space, and that reads words alone; this one is {type(space).__name__} and reads {sentences}. Name "
            "another variant as the generator's `space`."
        )
    return space


def _tag_sequences(inputs: Inputs, decoding: Decoding) -> TagSequences:
    structure = inputs.pairs("train").structures["tags"]
    assert isinstance(structure, TagsOfSentences)
    sequences, counts = structure.sequences(decoding.longest_sentence)
    if not sequences:
        raise InputError(
            f"no training sentence of at most {decoding.longest_sentence} words has part-of-speech tags to write "
            "along: look at the status of the parses, or raise decoding.longest_sentence of the generator."
        )
    return TagSequences(sequences, counts)


def _along_tags(
    generator: Generator,
    content: Embedded | ViewOfImages,
    images: int,
    sequences: TagSequences,
    decoding: Decoding,
    seed: int,
) -> list[Candidate]:
    """The best sentence along each tag sequence that is drawn for each image; equally long ones at once."""
    asked = [(tags, image) for image in range(images) for tags in sequences.draw(decoding.tag_sequences, seed, image)]
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
        written = _search(generator, content.take(numbers), along, decoding)
        best, likelihood = written.words[:, 0].tolist(), written.log_likelihood[:, 0].tolist()
        found += [
            Candidate(image, _before_end(words), tags, likely)
            for (tags, image), words, likely in zip(some, best, likelihood, strict=True)
        ]
    return found


def _without_tags(
    generator: Generator, content: Embedded | ViewOfImages, images: int, decoding: Decoding
) -> list[Candidate]:
    """All hypotheses of the search for each image."""
    found = []
    groups = batches(images, max(1, HYPOTHESES_AT_ONCE // decoding.beam))
    for rows in progress(groups, "images", len(groups)):
        written = _search(generator, content.take(rows), None, decoding)
        for image, words, likelihood in zip(rows, written.words.tolist(), written.log_likelihood.tolist(), strict=True):
            found += [
                Candidate(int(image), _before_end(one), NO_TAGS, likely)
                for one, likely in zip(words, likelihood, strict=True)
                if likely > -np.inf
            ]
    return found


def _search(generator: Generator, content: Tensor, tags: Tensor | None, decoding: Decoding) -> Hypotheses:
    device = next(generator.parameters()).device
    along = None if tags is None else tags.to(device)
    return beam_search(generator, content.to(device), along, decoding.beam, decoding.longest_sentence)


def _before_end(words: list[int]) -> tuple[int, ...]:
    return tuple(words[: words.index(END)] if END in words else words)


def _rated(
    candidates: list[Candidate],
    content: Embedded | ViewOfImages,
    space: DualEncoder,
    inputs: Inputs,
    decoding: Decoding,
) -> list[Candidate]:
    """The candidates with s(x, v), and their words' mean log probability by the n-gram model."""
    model = KneserNey(map(inputs.vocabulary.encode, _training_tokens(inputs)), decoding.ngram, len(inputs.vocabulary))
    sentences = sorted({one.words for one in candidates}, key=lambda words: (len(words), words))
    language = {words: model.log_probability(words) / (len(words) + 1) for words in sentences}
    row = {words: number for number, words in enumerate(sentences)}
    vectors, rated = _embedded(sentences, space), []
    with evaluation(space):
        for image, group in groupby(sorted(candidates, key=lambda one: one.image), lambda one: one.image):
            some = list(group)
            of_image = (content.take(np.array([image])),)
            scores = space.score(of_image, (vectors[[row[one.words] for one in some]],))[0].tolist()
            rated += [
                replace(one, translation=score, language=language[one.words])
                for one, score in zip(some, scores, strict=True)
            ]
    return rated


def _training_tokens(inputs: Inputs) -> pd.Series:
    tokens = schema.read(inputs.files.one("tokens"), TOKENS, ["split", "tokens"])
    return tokens.loc[tokens["split"] == "train", "tokens"]


def _embedded(sentences: Sequence[tuple[int, ...]], space: DualEncoder) -> Tensor:
    """(S, dimension) vectors in the joint space."""
    device, found = next(space.parameters()).device, []
    with evaluation(space):
        for rows in batches(len(sentences), SENTENCES_AT_ONCE):
            words = words_of(padded([sentences[row] for row in rows]), device)
            found.append(space.embed_sentences(Sentences({"words": words})).cpu())
    return torch.cat(found)


def padded(sentences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(S, longest) word numbers of sentences, with 0 after the last."""
    index = np.zeros((len(sentences), max(map(len, sentences))), np.int64)
    for row, sentence in enumerate(sentences):
        index[row, : len(sentence)] = sentence
    return index


def _rows(candidates: list[Candidate], images: NDArray[np.object_], inputs: Inputs, decoding: Decoding) -> pd.DataFrame:
    """GENERATED rows of the best candidates of each image; equal scores in the order of their words' numbers."""
    weight = decoding.language_weight
    known = {spoken(tokens) for tokens in _training_tokens(inputs)}
    tag_names = read_tags(inputs.files.one("tags")) if "tags" in inputs.files else None
    ordered = sorted(candidates, key=lambda one: (one.image, -one.score(weight), one.words))
    rows: list[dict[str, Any]] = []
    for image, group in groupby(ordered, lambda one: one.image):
        for rank, one in enumerate(islice(group, decoding.kept), start=1):
            tokens = inputs.vocabulary.decode(one.words)
            rows.append(
                {
                    "image_id": images[image],
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
