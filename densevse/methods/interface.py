"""The interface that every paper's method implements.

A method encodes each image and each sentence once, and then scores blocks of pairs. This interface fits dual encoders
(a matrix product), fragment alignment (DeFrag) and pair-wise attention (sm-LSTM), and makes scoring all pairs cheap:

    images    = method.encode_images(batch.images)          once for each image
    sentences = method.encode_sentences(batch.sentences)    once for each sentence
    scores    = method.score(images, sentences)             (images, sentences), higher is closer

The loss takes encodings, so that it also works on given embeddings, an ensemble or a probe. A method's module handles
tensors only: no files, no configuration, no Snakemake. Its configuration lists the names of what it reads of images
(`views`) and of sentences (`sentences`).

Three conventions:

- Region 0 of an image is the whole image; detections follow (`WHOLE_IMAGE`).
- A loss reads its parameters from `moment.parameters`, as a phase may change them. All other code reads
`self.hyperparameters`, with which the model was built.
- A batch may hold an image twice, with two of its sentences. So the batch has a matrix of the true pairs, and a loss
uses none of them as a negative. Pair i of the batch is always on the diagonal.

To add a method, write two files. densevse/methods/<name>.py defines one `Method` and assigns it to METHOD.
densevse/methods/parameters/<name>.py defines the type `Parameters` of its configuration.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from densevse.kernels.arrays import Booleans
from densevse.methods.moving import to_device
from densevse.methods.structures import Triplets

# Each method defines its own encodings: named tuples of tensors whose first dimension is the image (or the sentence).
# The code that encodes, tiles and stores them needs to know no more.
Encoding: TypeAlias = tuple[Tensor, ...]
SomeEncoding = TypeVar("SomeEncoding", bound=Encoding)

WHOLE_IMAGE = 0  # the first region of every image


class Embeddings(NamedTuple):
    """An encoding that is one vector for each image (or sentence), in the space that both share."""

    vectors: Tensor  # (I, dimension) or (S, dimension)


def replace_parts(encoding: SomeEncoding, parts: Iterable[Tensor]) -> SomeEncoding:
    """Makes an encoding of the same type from other tensors, e.g. from some of its rows."""
    return type(encoding)(*parts)


def module_device(module: nn.Module) -> torch.device:
    """The device that a module's weights are on."""
    return next(module.parameters()).device


@dataclass(frozen=True)
class Correspondences:
    """Noun phrases of a batch, with the regions assigned to them (HM-LSTM, section 3.3)."""

    sentence: Tensor  # (phrases,) which sentence of the batch
    node: Tensor  # (phrases,) the phrase's node number in the batch's `Trees`
    region: Tensor  # (phrases,) the region, a row of the sentence's image in the view `regions`
    weight: Tensor  # (phrases,) w_dk of Eq 10


@dataclass(frozen=True)
class Images:
    """A batch of images: (I, ...) float32 for each view that the method reads."""

    # generated_captions: (I, longest) numbers of the words of a generated sentence, padded with 0
    # crops: (I, R, 3, S, S) uint8, the pixels of the regions
    views: dict[str, Tensor]  # whole, centre, ten_crop, concepts: (I, D); grid: (I, cells, D); regions: (I, R, D)
    present: Tensor  # (I, R) bool: which regions exist, the whole image always; (I, 0) without regions
    scores: Tensor | None = None  # (I, R) the regions' class scores, infinite for the whole image; none without regions
    host: Booleans | None = None  # a copy of `present` that never leaves the CPU

    def present_on_host(self) -> Booleans:
        """(I, R) `present` as a NumPy array; the device does not wait if the batch holds a copy on the CPU."""
        return self.present.cpu().numpy() if self.host is None else self.host


@dataclass(frozen=True)
class Sentences:
    """A batch of S sentences, as the structures that the method reads; densevse/methods/structures.py defines these."""

    structures: dict[str, Any]
    plan: Any = None  # the method's plan of the batch, if it was made ahead (`Method.plan`)

    def __getitem__(self, name: str) -> Any:
        """The structure of that name. Raises `ValueError` that names the configuration's key if it is missing."""
        if name not in self.structures:
            raise ValueError(
                f"the method reads {name} of sentences, but was given {sorted(self.structures) or 'nothing'}: its "
                f"configuration's `sentences` must hold {name}"
            )
        return self.structures[name]


@dataclass(frozen=True)
class Batch:
    """Matched pairs for training: sentence i belongs to image i."""

    images: Images
    sentences: Sentences
    positives: Tensor  # (B, B) bool: true pairs: the diagonal, and the other sentences of the same image
    correspondences: Correspondences | None = None  # in rounds of training that have correspondences


@dataclass(frozen=True)
class Shapes:
    """The sizes that the data gives a method."""

    features: dict[str, int]  # view -> length of a vector
    words: int  # size of the vocabulary, padding and unknown word included
    word_vectors: Tensor | None = None  # (words, dim) pre-trained vectors, where the method is given some
    sizes: dict[str, int] = field(default_factory=dict)  # sizes of other vocabularies, e.g. relations, tags
    # With the view crops, what gives (N, D) vectors of (N, 3, S, S) uint8; its module `layers` is the network, in which
    # modules go by its own names.
    network: nn.Module | None = None
    # With the structure text, the encoder of sentences that comes with the network of the views: it gives (S, D) of
    # (S, length) tokens.
    text_encoder: nn.Module | None = None


@dataclass(frozen=True)
class Moment:
    """A method's place in its training. What changes during training follows from it, never from a counter."""

    epoch: int  # from 1, over all phases of the round
    phase: str  # the phase's name in the configuration
    parameters: Any  # the method's parameters as this phase changes them (e.g. `negatives: sum` while warming up)


@dataclass(frozen=True)
class Phrases:
    """Parts of a batch's sentences, each with its vector in the space that images and sentences share."""

    sentence: Tensor  # (phrases,) which sentence of the batch
    node: Tensor  # (phrases,) the phrase's node number in the batch's `Trees`
    vectors: Tensor  # (phrases, dimension)


@dataclass(frozen=True)
class Saliency:
    """The attention weights of a method in P pairs of an image and a sentence, at each of T steps.

    A step is a step of the model (sm-LSTM), or a word or place that attends to the other side and itself has weight 1
    (SCAN). The weights of steps that a pair does not have are 0.
    """

    view: Literal["grid", "regions"]  # the view whose cells or regions are the places
    places: Tensor  # (T, P, places) weights of the places, which sum to 1 in each step; 0 where there is none
    words: Tensor  # (T, P, longest) weights of the words, which sum to 1 in each step; 0 at padding


class Method(nn.Module, ABC):
    """A paper. `hyperparameters` are of the type `Parameters` in densevse/methods/parameters/<name>.py.

    `images_as` is the type of the named tuple that `encode_images` returns, in which a search loads stored encodings.
    `tile` is how many images and sentences `score` gets at once; a method that compares every region with every word
    lowers it. `regions_read` is `assigned` if a method reads only the whole image (region 0) and, in training, the
    regions that the batch's correspondences name.
    """

    images_as: ClassVar[type[Any]]
    tile: ClassVar[tuple[int, int]] = (512, 2560)
    regions_read: ClassVar[Literal["all", "assigned"]] = "all"

    def __init__(self, parameters: Any, shapes: Shapes) -> None:
        super().__init__()
        self.hyperparameters = parameters
        self.shapes = shapes

    @abstractmethod
    def encode_images(self, images: Images) -> Encoding:
        """Encodes everything about images that no sentence changes, as the method's `images_as`."""

    @abstractmethod
    def encode_sentences(self, sentences: Sentences) -> Encoding:
        """Encodes everything about sentences that no image changes, as a named tuple."""

    @abstractmethod
    def score(self, images: Any, sentences: Any) -> Tensor:
        """(I, S) scores of every image with every sentence; higher is closer."""

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The encodings that `loss` takes; override it if training encodes more than `score` needs.

        The first dimension of the additional tensors need not be the image or the sentence, as they are never tiled.
        """
        return self.encode_images(batch.images), self.encode_sentences(batch.sentences)

    @abstractmethod
    def loss(self, images: Any, sentences: Any, batch: Batch, moment: Moment) -> Tensor:
        """The training loss of a batch of matched pairs, from its encodings: a scalar.

        Its parameters are `moment.parameters`.
        """

    def plan(self, sentences: Sentences) -> Any:
        """What the method must know of a batch of sentences to compute it on its device; none by default.

        Made on the CPU, of tensors there, as threads do it ahead of a GPU: the order of a recurrence, the levels of
        trees. It depends on the words and structures alone.
        """
        return None

    def device_plan(self, sentences: Sentences) -> Any:
        """The plan of a batch on the method's device: the one that the batch holds, or else one that is made now."""
        return to_device(self.plan(sentences), module_device(self)) if sentences.plan is None else sentences.plan

    def start_from(self, method: str, weights: Mapping[str, Tensor]) -> None:
        """Takes over the matching part of another method's `weights`. Raises `ValueError` if nothing matches."""
        raise ValueError(f"{type(self).__name__} cannot start from a model of the method {method}")

    def measure(self, images: Images) -> None:
        """Keeps, before training, the scale of some training images, or the images themselves."""

    def fit(self, pairs: Iterable[tuple[Images, Sentences]]) -> None:
        """Computes, before training, what has a closed form, from all training pairs; sentence i belongs to image i."""

    # Optional functions. A method that overrides one has the artifacts made with it; other methods do not.

    def embed_images(self, images: Images) -> Tensor:
        """(I, dimension) vectors of images in the space that they share with sentences."""
        raise NotImplementedError(f"{type(self).__name__} does not embed images")

    def embed_sentences(self, sentences: Sentences) -> Tensor:
        """(S, dimension) vectors of sentences in the space that they share with images."""
        raise NotImplementedError(f"{type(self).__name__} does not embed sentences")

    def embed_words(self, words: Tensor) -> Tensor:
        """(n,) numbers of words to (n, dimension) vectors in the same space."""
        raise NotImplementedError(f"{type(self).__name__} does not embed words")

    def embed_regions(self, regions: Tensor) -> Tensor:
        """(n, D) features of regions to (n, dimension) vectors in the same space."""
        raise NotImplementedError(f"{type(self).__name__} does not embed regions")

    def embed_phrases(self, sentences: Sentences) -> Phrases:
        """The noun phrases of a batch of sentences, with vectors in the same space."""
        raise NotImplementedError(f"{type(self).__name__} does not embed phrases")

    def embed_triplets(self, triplets: Triplets) -> Tensor:
        """(T, dimension) vectors of dependency triplets in the same space."""
        raise NotImplementedError(f"{type(self).__name__} does not embed triplets")

    def assign(self, regions: Tensor, present: Tensor, phrases: Tensor) -> tuple[Tensor, Tensor]:
        """Region and confidence of each phrase, (P,) each, from (P, R, d) regions, (P, R) bool, (P, d) phrases."""
        raise NotImplementedError(f"{type(self).__name__} does not assign regions to phrases")

    def saliency(self, images: Any, sentences: Any, image: Tensor, sentence: Tensor) -> Saliency:
        """The attention of each step, for pairs given by their rows in the encodings, (P,) each."""
        raise NotImplementedError(f"{type(self).__name__} attends to nothing that could be shown")

    @classmethod
    def can(cls, ability: str) -> bool:
        """True if the method overrides this optional function, e.g. `embed_regions`."""
        return getattr(cls, ability) is not getattr(Method, ability)


class DualEncoder(Method):
    """A method that encodes each image and each sentence as one vector, in one space."""

    images_as = Embeddings

    @abstractmethod
    def encode_images(self, images: Images) -> Embeddings:
        """(I, dimension) vectors of images."""

    @abstractmethod
    def encode_sentences(self, sentences: Sentences) -> Embeddings:
        """(S, dimension) vectors of sentences."""

    def score(self, images: Embeddings, sentences: Embeddings) -> Tensor:
        """(I, S) products of the encodings' `vectors`: the cosine, where these are of unit norm."""
        return images.vectors @ sentences.vectors.T

    def embed_images(self, images: Images) -> Tensor:
        """(I, dimension): the encoding."""
        return self.encode_images(images).vectors

    def embed_sentences(self, sentences: Sentences) -> Tensor:
        """(S, dimension): the encoding."""
        return self.encode_sentences(sentences).vectors
