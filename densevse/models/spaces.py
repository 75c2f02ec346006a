"""Joint spaces of images and words, in which any sentence can be embedded, of a data set or not."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from densevse.config.registries import reads_one_vector
from densevse.methods.interface import DualEncoder, Embeddings, Sentences, module_device
from densevse.methods.structures import words_from_index
from densevse.models.encoding import batches, evaluation, join_encodings
from densevse.models.files import described, load_model
from snakeproof.errors import InputError

SENTENCES_AT_ONCE = 512


def read_space(path: str, purpose: str, advice: str, windows: Mapping[str, Any] | None = None) -> DualEncoder:
    """The model of a joint space, which must read only the words of sentences.

    To embed `windows` of images, the model must read one vector of the whole image. `windows` says how these see images
    (see `network_settings`), which must match the model's features. Raises `InputError` for any other
    model; the message says what the space is for (`purpose`) and what to do (`advice`).
    """
    known = described(path)
    views, sentences = sorted(known["shapes"]["features"]), known["sentences"]
    of_whole = reads_one_vector(views)
    compared = {views[0]: windows} if of_whole and windows is not None else {}
    space = load_model(path, features=compared)
    if not isinstance(space, DualEncoder) or sentences != ["words"] or not (of_whole or windows is None):
        reads = "words alone" if windows is None else "one vector of the whole image and words alone"
        raise InputError(
            f"{path}: {purpose} only by a model whose images and sentences are vectors of one space, and that reads "
            f"{reads}; this one is {type(space).__name__} and reads {views} and {sentences}. {advice}"
        )
    return space


def encode_words(space: DualEncoder, sentences: Sequence[Sequence[int]]) -> Embeddings:
    """(S, dimension) vectors of sentences, given as the numbers of their words."""
    device = module_device(space)
    with evaluation(space):
        return join_encodings(
            [
                space.encode_sentences(
                    Sentences({"words": words_from_index(pad_words([sentences[row] for row in rows]), device)})
                )
                for rows in batches(len(sentences), SENTENCES_AT_ONCE)
            ]
        )


def pad_words(sentences: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    """(S, longest) word numbers of sentences, padded with 0."""
    index = np.zeros((len(sentences), max(map(len, sentences))), np.int64)
    for row, sentence in enumerate(sentences):
        index[row, : len(sentence)] = sentence
    return index
