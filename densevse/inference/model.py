"""A trained model that encodes sentences and images of a caller, and searches among them.

    model = densevse.load("results/scenes/models/vse/seed0/round0")
    photographs = model.encode_images(["dog.jpg", "cat.jpg"])
    answers = model.search(photographs, model.encode_sentences(["a dog on a sofa"]))

The code is that of the workflow's jobs: batches, device and precision are those of `densevse search`.
"""

from collections import Counter
from collections.abc import Sequence
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TypeAlias, get_args

import numpy as np
import pandas as pd
import torch
from numpy.typing import NDArray
from torch import Tensor

from densevse.artifacts.vectors import check_vectors, refuse_constant_vectors
from densevse.config.registries import reads_one_vector
from densevse.data.distinct import Distinct
from densevse.data.files import Files
from densevse.data.inputs import Pairs
from densevse.data.structures import structure_class
from densevse.evaluation.protocols import TestSet
from densevse.inference.folder import ModelFolder
from densevse.inference.given import GivenImage, GivenSentences, read_images, read_pixels, read_texts
from densevse.language.tokens import tokenize
from densevse.methods.interface import DualEncoder, Embeddings, Images, module_device
from densevse.models.encoding import BATCH, batches, encode_sentences, evaluation
from densevse.models.files import load_model, method_class, text_encoder_settings
from densevse.models.scoring import scorer
from densevse.models.searching import Asked, EncodedRows, score_encodings, search
from densevse.runtime.arrays import as_array
from densevse.runtime.numerics import set_up
from densevse.vision.extract import features, full_batches
from densevse.vision.networks import Network, load_network
from snakeproof.errors import InputError
from snakeproof.logs import logger

Vectors: TypeAlias = NDArray[np.float32]
_NAMED = 5
"""So many unknown words are named; of the others a warning has the count."""
_READABLE = (["words"], ["text"])
"""The structures of sentences that need no parser."""


class Model:
    """A trained model on its device: vectors of images and sentences, their scores, and searches."""

    def __init__(self, method: DualEncoder, folder: ModelFolder, weights: str | Path | None = None) -> None:
        """`weights` is as in `load`."""
        self.method, self.folder = method, folder
        (self.view,) = folder.description["shapes"]["features"]
        self._structures = folder.description["sentences"]
        named = {"words": str(folder.words())} if "words" in self._structures else {}
        self._sentences = GivenSentences(Files(named), {}, text_encoder_settings(folder.model, folder.description))
        self._weights = weights

    def encode_sentences(self, sentences: Sequence[str]) -> Vectors:
        """(S, dimension) vectors of sentences.

        A word that the training did not have counts as the unknown word, and a warning names such words. Raises
        `InputError` for what is no list of texts.
        """
        texts = read_texts(sentences)
        structures = {name: structure_class(name).read(self._sentences, texts) for name in self._structures}
        none = np.empty(0, object)
        pairs = Pairs(TestSet(none, texts, np.empty(0, np.int64), none), {}, structures)
        if "words" in structures:
            _warn_of_unknown(texts, self._sentences)
        return _array(encode_sentences(self.method, pairs)[0])

    def encode_images(self, images: Sequence[GivenImage]) -> Vectors:
        """(I, dimension) vectors of images: paths, pixels (height, width, 3) of uint8 in RGB, or images of Pillow.

        Raises `InputError` that names an image which cannot be read, or if the network's weights are not found.
        """
        network = self.network
        read = np.concatenate(
            [
                features(network, crops, self.view)[: rows.stop - rows.start]
                for rows, crops in full_batches(read_pixels, read_images(images), network, self.view)
            ]
        )
        distinct = Distinct.from_contents(read)
        with evaluation(self.method):
            found = [self._encode_features(read[distinct.first[rows]]) for rows in batches(len(distinct), BATCH)]
        return np.concatenate(found)[distinct.row]

    def score(self, images: Vectors, sentences: Vectors) -> Vectors:
        """(I, S) scores of encoded images and sentences; higher is closer. Raises `InputError` for other shapes."""
        sides = self._sides(images, sentences)
        score_block = scorer(self.method, *map(Embeddings, sides))(*(np.arange(len(side)) for side in sides))
        return _array(score_block(*(slice(0, len(side)) for side in sides)))

    def search(self, images: Vectors, sentences: Vectors, asked: Asked = "sentences", top: int = 5) -> pd.DataFrame:
        """The `top` best answers to each query: rows (query, rank, answer, score), the best first.

        `asked` are the queries, sentences or photographs, and the others the answers; both are numbered by their rows.
        Of equal scores the earlier row comes first. Raises `InputError` for other shapes, for another name in `asked`,
        or if `top` is below 1.
        """
        if asked not in get_args(Asked):
            raise InputError(f"asked: expected {' or '.join(get_args(Asked))}, found {asked!r}.")
        if isinstance(top, bool) or not isinstance(top, int | np.integer) or top < 1:
            raise InputError(f"top: {top} answers were asked for; ask for a whole number, 1 at least.")
        image_rows, sentence_rows = map(EncodedRows, self._sides(images, sentences))
        found = search(partial(score_encodings, self.method), image_rows, sentence_rows, asked, top)
        return pd.DataFrame({"query": found.query, "rank": found.rank, "answer": found.row, "score": found.score})

    @cached_property
    def network(self) -> Network:
        """The network that computes the features of images, in the precision of those that the model was trained on.

        Raises `InputError` if its weights are not found, or if those features were computed elsewhere.
        """
        settings = self.folder.network_settings(self.view)
        return load_network(settings, self._weights or self.folder.network_weights(self.view))

    def _encode_features(self, vectors: Vectors) -> Vectors:
        """The vectors of some images of these features."""
        there = torch.from_numpy(vectors).to(module_device(self.method))
        present = torch.ones(len(there), 0, dtype=torch.bool, device=there.device)
        return _array(self.method.encode_images(Images({self.view: there}, present)).vectors)

    def _sides(self, images: Vectors, sentences: Vectors) -> list[Tensor]:
        """Both sides on the model's device.

        Raises `InputError` unless they are one or more vectors of one length, finite and, under a cosine, not zero, and
        for ten or more that are all the same.
        """
        sides = as_array(images), as_array(sentences)
        shapes = [side.shape for side in sides]
        if any(len(shape) != 2 or 0 in shape for shape in shapes) or shapes[0][1] != shapes[1][1]:
            raise InputError(
                f"expected vectors (images, D) and (sentences, D) as the model encodes them, at least one each, found "
                f"{shapes[0]} and {shapes[1]}."
            )
        similarity = getattr(self.method.hyperparameters, "similarity", "cosine")
        found = []
        for name, side in zip(("images", "sentences"), sides, strict=True):
            if np.ma.is_masked(side) or side.dtype.kind not in "fiu":
                raise InputError(f"{name}: expected vectors of real numbers, none masked, found {side.dtype}.")
            with np.errstate(over="ignore"):  # numbers beyond float32 become infinite, and are named
                vectors = np.ascontiguousarray(side, np.float32)
            check_vectors(vectors, name, similarity)
            refuse_constant_vectors(vectors, name)
            found.append(torch.from_numpy(vectors).to(module_device(self.method)))
        return found


def load(folder: str | Path, weights: str | Path | None = None) -> Model:
    """Loads a trained model that has one vector for each image and each sentence.

    `folder` is a training's result or what `densevse export` wrote. `weights` is the file of the network that computes
    the features of images; by default it is searched in resources/ by its checksum, when images are first encoded.
    Raises `InputError` if the folder has no whole model, or for a model that compares parts of images and sentences.
    """
    found = ModelFolder(folder)
    check_readable(found)
    device = set_up(torch.get_num_threads())
    method = load_model(found.model).to(device)
    assert isinstance(method, DualEncoder)  # checked above
    return Model(method, found, weights)


def check_readable(folder: ModelFolder) -> None:
    """Raises `InputError` for a model without one vector of the whole image and one of the sentence."""
    known = folder.description
    views, reads = known["shapes"]["features"], known["sentences"]
    if not (reads_one_vector(views) and reads in _READABLE and issubclass(method_class(known["method"]), DualEncoder)):
        raise InputError(
            f"{folder.path}: a model of the method {known['method']}, which reads {', '.join(views)} of images and "
            f"{', '.join(reads)} of sentences, cannot be loaded: only one that has one vector of the whole image and "
            "one of the words, such as vse. Search with this one by `densevse search`, or by `searches` in the "
            "configuration."
        )


def _warn_of_unknown(texts: NDArray[np.object_], sentences: GivenSentences) -> None:
    """Warns of the words that the vocabulary lacks, the most frequent first, and of sentences without any other."""
    tokens = [tokenize(text) for text in texts]
    lacking = [[word for word in words if word not in sentences.vocabulary] for words in tokens]
    counts = Counter(chain.from_iterable(lacking))
    if counts:
        named = ", ".join(repr(word) for word, _ in counts.most_common(_NAMED))
        others = f" and {len(counts) - _NAMED:,} others" if len(counts) > _NAMED else ""
        where = f"{sum(map(bool, lacking)):,} of {len(texts):,} sentences"
        logger.warning("the model does not know the words %s%s, in %s", named, others, where)
    nothing = [text for text, words, unknown in zip(texts, tokens, lacking, strict=True) if len(words) == len(unknown)]
    if nothing:
        logger.warning("the model knows no word of %s sentences, the first is %r", f"{len(nothing):,}", nothing[0])


def _array(vectors: Tensor) -> Vectors:
    found: Vectors = vectors.float().cpu().numpy()
    return found
