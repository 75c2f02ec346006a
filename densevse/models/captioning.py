"""Writes sentences about the images of a split with a trained generator, ranks them, and stores them.

SC-NLM (Kiros et al. 2014, "Decoder") draws tag sequences from training and writes one sentence along each by beam
search. It ranks them by the translation score s(x, v), the similarity of image and sentence in the joint space, and an
n-gram model of the training sentences. A generator without structure takes the search's hypotheses. A generator without
a joint space ranks them by its own likelihood. `decoding.ranking` has other rankings (ours).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.schemas.captions import GENERATED
from densevse.artifacts.schemas.sentences import TOKENS
from densevse.config.methods import Decoding
from densevse.data.contents import Contents, content_of_images
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.language.ngrams import KneserNey
from densevse.language.tags import read_tags
from densevse.language.tokens import detokenize
from densevse.language.words import drop_punctuation
from densevse.methods.generators.beam_search import Hypotheses, beam_search
from densevse.methods.generators.interface import END, Generator
from densevse.methods.interface import DualEncoder, Embeddings, module_device
from densevse.models.encoding import batches, evaluation
from densevse.models.files import described, load_generator
from densevse.models.spaces import encode_words, read_space
from densevse.runtime.numerics import set_up
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.strict import Strict, validate


@dataclass(frozen=True)
class Candidate:
    """A sentence about an image, before ranking."""

    image: int  # the image's number in the split
    words: tuple[int, ...]
    tags: tuple[int, ...]
    log_likelihood: float  # log P(words | tags, v), with the end of the sentence
    log_tags: float = 0.0  # log P(tags); 0 without structure, or where the tags are given
    translation: float | None = None
    language: float | None = None

    def score(self, decoding: Decoding) -> float:
        """The score that ranks the candidate."""
        if decoding.ranking == "translation":
            if self.translation is None or self.language is None:
                return self.log_likelihood
            return self.translation + decoding.language_weight * self.language
        tags = self.log_tags if decoding.ranking == "joint_likelihood" else 0.0
        return (self.log_likelihood + tags) / (len(self.words) + 1)


def rank_candidates(candidates: Sequence[Candidate], decoding: Decoding) -> dict[int, list[Candidate]]:
    """The distinct sentences about each image, the best first; images are in order.

    Of equal sentences, which may come from different tags, the best is kept; of equally good ones, the most likely.
    Equal scores are ordered by their words' numbers.
    """

    def order(one: Candidate) -> tuple[int, float, tuple[int, ...], float]:
        return one.image, -one.score(decoding), one.words, -one.log_likelihood

    found: dict[int, dict[tuple[int, ...], Candidate]] = {}
    for one in sorted(candidates, key=order):
        found.setdefault(one.image, {}).setdefault(one.words, one)
    return {image: list(sentences.values()) for image, sentences in found.items()}


def rate_candidates(
    candidates: Sequence[Candidate], images: Contents, space: DualEncoder, model: KneserNey
) -> list[Candidate]:
    """Adds to candidates their translation scores and the mean log probability of their words by an n-gram model."""
    sentences = sorted({one.words for one in candidates}, key=lambda words: (len(words), words))
    language = {words: model.log_probability(words) / (len(words) + 1) for words in sentences}
    row = {words: number for number, words in enumerate(sentences)}
    vectors, found = encode_words(space, sentences).vectors.cpu(), []
    with evaluation(space):
        for image, group in groupby(sorted(candidates, key=lambda one: one.image), lambda one: one.image):
            some = list(group)
            of_image = Embeddings(images.take(np.array([image])))
            of_sentences = Embeddings(vectors[[row[one.words] for one in some]])
            scores = space.score(of_image, of_sentences)[0].tolist()
            found += [
                replace(one, translation=score, language=language[one.words])
                for one, score in zip(some, scores, strict=True)
            ]
    return found


if TYPE_CHECKING:  # imported for type checks only, so that its code counts only for generators that read tags
    from densevse.data.structures.tags import TagsOfSentences

TagSequence: TypeAlias = tuple[int, ...]
Along: TypeAlias = Mapping[TagSequence, float]
"""Tag sequences along which sentences about one image are written, each with its log P(tags)."""

HYPOTHESES_AT_ONCE = 1280
NO_TAGS: TagSequence = ()


@dataclass(frozen=True)
class TagSequences:
    """The tag sequences of training, some of which are chosen for each image."""

    sequences: Sequence[TagSequence]
    counts: NDArray[np.int64]  # the number of training sentences with each sequence

    def choose_sequences(self, image: int, decoding: Decoding, seed: int) -> Along:
        """The tag sequences along which sentences about an image are written."""
        if decoding.choice_of_tags == "drawn":
            chosen = self.draw(decoding.tag_sequences, seed, image)
        else:
            chosen = self.frequent_sequences(decoding.tag_sequences)
        return {tags: self._log_probability[tags] for tags in chosen}

    def draw(self, number: int, seed: int, image: int) -> list[TagSequence]:
        """Draws distinct sequences for an image, in proportion to their frequency; all of them if there are fewer."""
        if number >= len(self.sequences):
            return list(self.sequences)
        random = np.random.default_rng((seed, image))
        drawn = random.choice(len(self.sequences), number, replace=False, p=self.counts / self.counts.sum())
        return [self.sequences[place] for place in sorted(drawn)]

    def frequent_sequences(self, number: int) -> list[TagSequence]:
        """The most frequent sequences; ties are broken by order."""
        return [self.sequences[place] for place in self._frequency_order[:number]]

    @cached_property
    def _frequency_order(self) -> NDArray[np.intp]:
        return np.argsort(-self.counts, kind="stable")

    @cached_property
    def _log_probability(self) -> dict[TagSequence, float]:
        return dict(zip(self.sequences, np.log(self.counts / self.counts.sum()).tolist(), strict=True))


class CaptionJob(Strict):
    """The settings that decide which sentences are written."""

    decoding: Decoding
    seed: int
    threads: int


def write_captions(job: Mapping[str, Any], wildcards: Mapping[str, str], output: str, **files: str | list[str]) -> None:
    """The job that writes GENERATED sentences about the images of a split.

    `job` has the settings of `CaptionJob`, and `files` are as in `CaptionWriter`, which raises the same errors.
    """
    settings = validate(CaptionJob, job, "captions")
    writer = CaptionWriter(Files(files), wildcards["split"], settings)
    tags = writer.tags_of_training() if writer.follows_tags else None
    writer.write(rank_candidates(writer.candidates(writer.images, tags), settings.decoding), settings.decoding, output)


class CaptionWriter:
    """A trained generator that writes sentences about the images of a split."""

    def __init__(self, files: Files, split: str, job: CaptionJob) -> None:
        """`files` has the generator as `model`, and the model of its joint space, if it has one, as `joint_embedding`.

        Raises `InputError` if that model has no space of vectors, or reads more of sentences than their words.
        """
        device = set_up(job.threads)
        self._files, self._job = files, job
        self._inputs = Inputs(files, described(files.input_path("model"))["sentences"])
        self.pairs = self._inputs.pairs(split)
        self.images = content_of_images(self._inputs, self.pairs, split)
        self._generator = load_generator(files.input_path("model"), self._inputs, self.images.size).to(device)
        self._space = _space(files, device)

    @property
    def follows_tags(self) -> bool:
        """True if the generator writes along tag sequences."""
        return self._generator.follows_tags

    def tags_of_training(self) -> list[Along]:
        """The tag sequences of training that are chosen for each image. Raises `InputError` if there are none."""
        sequences, decoding = self._tag_sequences(), self._job.decoding
        return [sequences.choose_sequences(image, decoding, self._job.seed) for image in range(len(self.images))]

    def candidates(self, contents: Contents, tags: Sequence[Along] | None) -> list[Candidate]:
        """Sentences about each image, written from its content, with all of their scores.

        `tags` are the sequences for each image, for a generator that follows them. Translation scores are likenesses
        to the content.
        """
        decoding = self._job.decoding
        with evaluation(self._generator):
            if tags is None:
                found = _untagged_candidates(self._generator, contents, decoding)
            else:
                found = _tagged_candidates(self._generator, contents, tags, decoding)
        logger.info("%d sentences about %d images", len(found), len(contents))
        if self._space is None:
            return found
        numbered = map(self._inputs.vocabulary.encode, self._training_tokens())
        return rate_candidates(
            found, contents, self._space, KneserNey(numbered, decoding.ngram, len(self._inputs.vocabulary))
        )

    def text(self, candidate: Candidate) -> str:
        """A candidate as a sentence."""
        return detokenize(self._inputs.vocabulary.decode(candidate.words))

    def write(
        self, sentences: Mapping[int, Sequence[Candidate]], decoding: Decoding, path: str | Path, **found: str
    ) -> None:
        """Writes the first `decoding.kept` sentences about each image as GENERATED, whose statement gets `found`."""
        schema.write(self._rows(sentences, decoding), GENERATED, path, **found)

    def _training_tokens(self) -> Iterator[list[str]]:
        for part in schema.read_parts([self._files.input_path("tokens")], TOKENS, ["split", "tokens"]):
            yield from part.loc[part["split"] == "train", "tokens"]

    def _tag_sequences(self) -> TagSequences:
        structure = cast("TagsOfSentences", self._inputs.pairs("train").structures["tags"])
        longest = self._job.decoding.longest_sentence
        sequences, counts = structure.sequences(longest)
        if not sequences:
            raise InputError(
                f"no training sentence of at most {longest} words has part-of-speech tags to write along: look at the "
                "status of the parses, or raise decoding.longest_sentence of the generator."
            )
        return TagSequences(sequences, counts)

    def _rows(self, sentences: Mapping[int, Sequence[Candidate]], decoding: Decoding) -> pd.DataFrame:
        """GENERATED rows, by image in table order, then rank."""
        known = set(map(drop_punctuation, self._training_tokens()))
        tag_names = read_tags(self._files.input_path("tags")) if "tags" in self._files else None
        image_ids, rows = self.pairs.rows.image_ids, list[dict[str, Any]]()
        for image, of_image in sentences.items():
            for rank, one in enumerate(of_image[: decoding.kept], start=1):
                tokens = self._inputs.vocabulary.decode(one.words)
                rows.append(
                    {
                        "image_id": image_ids[image],
                        "rank": rank,
                        "sentence": detokenize(tokens),
                        "tokens": tokens,
                        "score": one.score(decoding),
                        "log_likelihood": one.log_likelihood,
                        "translation": one.translation,
                        "language": one.language,
                        "tags": tag_names.decode(one.tags) if tag_names else [],
                        "in_training": drop_punctuation(tokens) in known,
                    }
                )
        frame = pd.DataFrame(rows, columns=[column.name for column in GENERATED.columns])
        return frame.astype({"translation": "Float64", "language": "Float64"})


def _space(files: Files, device: torch.device) -> DualEncoder | None:
    """The model of the generator's joint space, if it has one."""
    if "joint_embedding" not in files:
        return None
    purpose, advice = (
        "generated sentences can be rated",
        "Name another variant as the generator's `joint_embedding`.",
    )
    return read_space(files.input_path("joint_embedding"), purpose, advice).to(device)


def _tagged_candidates(
    generator: Generator, contents: Contents, tags: Sequence[Along], decoding: Decoding
) -> list[Candidate]:
    """The best sentence along each tag sequence of each image; sequences of one length are searched together."""
    by_length: dict[int, list[tuple[TagSequence, int]]] = {}
    for image, of_image in enumerate(tags):
        for sequence in of_image:
            by_length.setdefault(len(sequence), []).append((sequence, image))
    size = max(1, HYPOTHESES_AT_ONCE // decoding.beam)
    groups = [(same, rows) for _, same in sorted(by_length.items()) for rows in batches(len(same), size)]
    found = []
    for same, rows in progress(groups, "tag sequences", len(groups)):
        some = [same[row] for row in rows]
        numbers = np.array([image for _, image in some])
        along = torch.tensor([sequence for sequence, _ in some])
        written = _search(generator, contents.take(numbers), along, decoding)
        best, likelihood = written.words[:, 0].tolist(), written.log_likelihood[:, 0].tolist()
        found += [
            Candidate(image, _cut_at_end(words), sequence, likely, tags[image][sequence])
            for (sequence, image), words, likely in zip(some, best, likelihood, strict=True)
        ]
    return found


def _untagged_candidates(generator: Generator, contents: Contents, decoding: Decoding) -> list[Candidate]:
    """All hypotheses of the search for each image."""
    found = []
    groups = batches(len(contents), max(1, HYPOTHESES_AT_ONCE // decoding.beam))
    for rows in progress(groups, "images", len(groups)):
        written = _search(generator, contents.take(rows), None, decoding)
        for image, words, likelihood in zip(rows, written.words.tolist(), written.log_likelihood.tolist(), strict=True):
            found += [
                Candidate(int(image), _cut_at_end(one), NO_TAGS, likely)
                for one, likely in zip(words, likelihood, strict=True)
                if likely > -np.inf
            ]
    return found


def _search(generator: Generator, content: Tensor, tags: Tensor | None, decoding: Decoding) -> Hypotheses:
    device = module_device(generator)
    along = None if tags is None else tags.to(device)
    return beam_search(generator, content.to(device), along, decoding.beam, decoding.longest_sentence)


def _cut_at_end(words: list[int]) -> tuple[int, ...]:
    return tuple(words[: words.index(END)] if END in words else words)
