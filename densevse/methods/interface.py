"""One interface for every paper.

A method does its one-sided work once, then scores blocks. That one shape serves dual encoders (a matrix product),
fragment alignment (DeFrag) and pair-wise attention (sm-LSTM) alike, and makes scoring all pairs cheap:

    images    = method.encode_images(batch.images)          once for each image
    sentences = method.encode_sentences(batch.sentences)    once for each sentence
    scores    = method.score(images, sentences)             (images, sentences), higher is closer

Its loss takes encodings, so that ready embeddings, an ensemble or a probe can be given. A method's module knows tensors
only: no files, no configuration, no Snakemake. What it reads of images and sentences has names (`views`,
`sentences`), which its configuration lists.

Three things are conventions:

- Region 0 of an image is the whole image; detections follow (`WHOLE_IMAGE`).
- In a loss, the parameters are those of the moment, `moment.parameters`: a phase may change them. Those of the module,
  `self.hyperparameters`, are what the model was built with, and hold wherever there is no moment.
- A batch may hold an image twice, with two of its sentences. So it says with a matrix which pairs are true, and a loss
  takes none of these for a negative; pair i of the batch is still the diagonal's.

A new method is densevse/methods/<name>.py, whose one `Method` is also called METHOD, and
densevse/methods/parameters/<name>.py, whose type `Parameters` says what its configuration may set.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias, TypeVar

import torch
from torch import Tensor, nn

from densevse.kernels.arrays import Booleans
from densevse.methods.structures import Triplets

Item = TypeVar("Item")
# Each method defines its own, as named tuples of tensors that all begin with the image (or the sentence). So the code
# that encodes, tiles and keeps them on disk needs to know no more of any.
Encoding: TypeAlias = tuple[Tensor, ...]
SomeEncoding = TypeVar("SomeEncoding", bound=Encoding)

WHOLE_IMAGE = 0  # the first region of every image


class Embeddings(NamedTuple):
    """An encoding that is one vector for each image (or sentence), in the space that both share."""

    vectors: Tensor  # (I, dimension) or (S, dimension)


def with_parts(encoding: SomeEncoding, parts: Iterable[Tensor]) -> SomeEncoding:
    """An encoding of the same type with other tensors, such as some rows of each."""
    return type(encoding)(*parts)


def device_of(module: nn.Module) -> torch.device:
    """The device that a module's weights are on."""
    return next(module.parameters()).device


def to_device(item: Item, device: torch.device) -> Item:
    """Move every tensor inside a tensor, dictionary, tuple or dataclass to `device`; NumPy arrays stay."""
    moved: Item = _mapped(item, lambda tensor: tensor.to(device, non_blocking=True))
    return moved


def pinned(item: Item) -> Item:
    """The same with every tensor in memory from which a GPU copies without waiting."""
    moved: Item = _mapped(item, Tensor.pin_memory)
    return moved


def _mapped(item: Any, change: Callable[[Tensor], Tensor]) -> Any:
    if isinstance(item, Tensor):
        return change(item)
    if isinstance(item, dict):
        return {key: _mapped(value, change) for key, value in item.items()}
    if isinstance(item, tuple):
        moved = [_mapped(value, change) for value in item]
        return type(item)(*moved) if hasattr(item, "_fields") else tuple(moved)
    if is_dataclass(item) and not isinstance(item, type):
        return type(item)(**{f.name: _mapped(getattr(item, f.name), change) for f in fields(item)})
    return item


@dataclass(frozen=True)
class Correspondences:
    """Noun phrases of a batch with the regions that they are assigned to (HM-LSTM, section 3.3)."""

    sentence: Tensor  # (phrases,) which sentence of the batch
    node: Tensor  # (phrases,) the phrase's node number in the batch's `Trees`
    region: Tensor  # (phrases,) which of the sentence's image's regions: a row of the batch's view `regions`
    weight: Tensor  # (phrases,) w_dk of Eq 10


@dataclass(frozen=True)
class Images:
    """A batch of images: for each view that the method reads, (I, ...) float32."""

    # generated_captions: (I, longest) numbers of the words of a generated sentence, padded with 0
    # crops: (I, R, 3, S, S) uint8, the pixels of the regions
    views: dict[str, Tensor]  # whole, centre, ten_crop, concepts: (I, D); grid: (I, cells, D); regions: (I, R, D)
    present: Tensor  # (I, R) bool: which regions exist, the whole image always; (I, 0) without regions
    scores: Tensor | None = None  # (I, R) the regions' class scores, infinite for the whole image; none without regions
    host: Booleans | None = None  # `present` once more, as a copy that never leaves the CPU

    def present_on_host(self) -> Booleans:
        """(I, R) `present` as a NumPy array; no waiting for the device where the batch came with such a copy."""
        return self.present.cpu().numpy() if self.host is None else self.host


@dataclass(frozen=True)
class Sentences:
    """A batch of S sentences, as the structures that the method reads: see densevse/methods/structures.py."""

    structures: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        """The structure of that name. Raises `ValueError` saying what the configuration must hold."""
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
    positives: Tensor  # (B, B) bool: true pairs by image id, the diagonal and the other sentences of an image
    correspondences: Correspondences | None = None  # where a round of training is given some


@dataclass(frozen=True)
class Shapes:
    """The sizes that the data gives a method."""

    features: dict[str, int]  # view -> length of a vector
    words: int  # size of the vocabulary, padding and unknown word included
    word_vectors: Tensor | None = None  # (words, dim) pre-trained vectors, where the method is given some
    sizes: dict[str, int] = field(default_factory=dict)  # of other vocabularies, e.g. relations, tags
    # With the view crops, what gives (N, D) vectors of (N, 3, S, S) uint8; its module `layers` is the network, in which
    # modules go by its own names.
    network: nn.Module | None = None
    # With the structure text, the encoder of sentences that comes with the network of the views: it gives (S, D) of
    # (S, length) tokens.
    text_encoder: nn.Module | None = None


@dataclass(frozen=True)
class Moment:
    """A method's place in its training. Whatever changes during training follows from this, never from a counter."""

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
    """The weights of a method's attention in P pairs of an image and a sentence, at each of T steps.

    A step is one of the model's (sm-LSTM), or it is a word, or a place, that attends to the other side and has itself
    the weight 1 (SCAN). A pair that has fewer steps than another has weights of 0 in those that it lacks.
    """

    view: Literal["grid", "regions"]  # the view of which the places are the cells, or the regions
    places: Tensor  # (T, P, places) weights of the places, which sum to 1 in each step; 0 where there is none
    words: Tensor  # (T, P, longest) weights of the words, which sum to 1 in each step; 0 at padding


class Method(nn.Module, ABC):
    """A paper. `hyperparameters` are of the type `Parameters` in densevse/methods/parameters/<name>.py.

    `images_as` is the named tuple that `encode_images` gives: a search makes it again of what is kept on disk. `tile`
    says how many images and sentences `score` is given at once: a method that compares every region with every word
    lowers it. `regions_read` is `assigned` where a method reads the whole image (region 0) and, in training,
    the regions that the batch's correspondences name, but no others.
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
        """Everything about images that no sentence changes, as the method's `images_as`."""

    @abstractmethod
    def encode_sentences(self, sentences: Sentences) -> Encoding:
        """Everything about sentences that no image changes, as a named tuple too."""

    @abstractmethod
    def score(self, images: Any, sentences: Any) -> Tensor:
        """(I, S) scores of every image with every sentence; higher is closer."""

    def encode_batch(self, batch: Batch) -> tuple[Encoding, Encoding]:
        """The encodings that `loss` takes; a method whose training encodes more than it scores overrides it.

        What there is more need not begin with the image or the sentence, as such encodings are never tiled.
        """
        return self.encode_images(batch.images), self.encode_sentences(batch.sentences)

    @abstractmethod
    def loss(self, images: Any, sentences: Any, batch: Batch, moment: Moment) -> Tensor:
        """The training loss of a batch of matched pairs, from its encodings: a scalar.

        Its parameters are `moment.parameters`.
        """

    def start_from(self, method: str, weights: Mapping[str, Tensor]) -> None:
        """Take over what fits of another method's trained `weights`. Raises `ValueError` where nothing does."""
        raise ValueError(f"{type(self).__name__} does not say how it starts from a model of the method {method}")

    # A method that can tell more than scores overrides these; methods that do not have no such artifacts.

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
        """The region that each phrase means, and how sure that is: (P, R, d), (P, R) bool, (P, d) to (P,) and (P,)."""
        raise NotImplementedError(f"{type(self).__name__} does not assign regions to phrases")

    def saliency(self, images: Any, sentences: Any, image: Tensor, sentence: Tensor) -> Saliency:
        """The attention of each step in the pairs of the given rows of the encodings, (P,) each."""
        raise NotImplementedError(f"{type(self).__name__} attends to nothing that could be shown")

    @classmethod
    def can(cls, ability: str) -> bool:
        """True if the method overrides this one of the optional functions above, e.g. `embed_regions`."""
        return getattr(cls, ability) is not getattr(Method, ability)


class DualEncoder(Method):
    """A method whose encodings are one vector for each image and one for each sentence, in one space."""

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
