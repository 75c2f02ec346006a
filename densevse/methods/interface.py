"""One interface for every paper.

A method does its one-sided work once, then scores blocks. That one shape serves dual encoders (a matrix product),
fragment alignment (DeFrag) and pair-wise attention (sm-LSTM) alike, and makes scoring all pairs cheap:

    images    = method.encode_images(batch.images)          once an image
    sentences = method.encode_sentences(batch.sentences)    once a sentence
    scores    = method.score(images, sentences)             (images, sentences), higher is closer

A method's module knows tensors only: no files, no configuration, no Snakemake.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

Item = TypeVar("Item")


def to_device(item: Item, device: torch.device) -> Item:
    """Move every tensor inside a tensor, dictionary, tuple or dataclass to `device`."""
    if isinstance(item, Tensor):
        return item.to(device, non_blocking=True)  # type: ignore[return-value]
    if isinstance(item, dict):
        return {key: to_device(value, device) for key, value in item.items()}  # type: ignore[return-value]
    if isinstance(item, tuple):
        moved = [to_device(value, device) for value in item]
        return type(item)(*moved) if hasattr(item, "_fields") else tuple(moved)  # type: ignore[return-value]
    if is_dataclass(item) and not isinstance(item, type):
        return type(item)(**{f.name: to_device(getattr(item, f.name), device) for f in fields(item)})
    return item


@dataclass(frozen=True)
class Trees:
    """Constituency trees of a batch of sentences, all nodes numbered together, children before parents.

    A leaf is a pre-terminal with its word. These are NumPy arrays: a tree is planned on the CPU, then computed
    wherever the method's weights are.
    """

    word: NDArray[np.int64]  # (nodes,) the leaf's word index, -1 at inner nodes
    parent: NDArray[np.int64]  # (nodes,) the parent's number, -1 at a root
    noun_phrase: NDArray[np.bool_]  # (nodes,) whether the node is a noun phrase (the hat in HM-LSTM, Eq 2)
    root: NDArray[np.int64]  # (sentences,) the root's number


@dataclass(frozen=True)
class Correspondences:
    """Noun phrases of a batch with the regions they are assigned to (HM-LSTM, section 3.3)."""

    sentence: Tensor  # (phrases,) which sentence of the batch
    node: Tensor  # (phrases,) the phrase's node number in `Trees`
    region: Tensor  # (phrases,) which region of the sentence's image
    weight: Tensor  # (phrases,) w_dk of Eq 10


@dataclass(frozen=True)
class Images:
    """A batch of images: for each view that the method reads, (images, ...) float32."""

    views: dict[str, Tensor]  # whole, ten_crop: (I, D); grid: (I, cells, D); regions: (I, regions, D)
    present: Tensor  # (I, regions) bool: which regions exist; (I, 0) without regions


@dataclass(frozen=True)
class Sentences:
    """A batch of sentences."""

    words: Tensor  # (S, longest) word indices, padded with 0
    lengths: Tensor  # (S,) words a sentence, at least 1
    trees: Trees | None = None
    correspondences: Correspondences | None = None


@dataclass(frozen=True)
class Batch:
    """Matched pairs for training: sentence i belongs to image i."""

    images: Images
    sentences: Sentences
    positives: Tensor  # (I, S) bool: true pairs by image id, so that no caption of an image is its own negative


@dataclass(frozen=True)
class Shapes:
    """The sizes that the data gives a method."""

    features: dict[str, int]  # view -> length of a vector
    words: int  # size of the vocabulary, padding and unknown word included
    word_vectors: Tensor | None = None  # (words, dim) pre-trained vectors, where the method is given some
    extra: dict[str, int] = field(default_factory=dict)


class Method(nn.Module, ABC):
    """A paper. Parameters that the paper states are the fields of `Parameters`, a frozen keyword-only dataclass."""

    Parameters: ClassVar[type]

    def __init__(self, parameters: Any, shapes: Shapes) -> None:
        super().__init__()
        self.parameters_of_paper = parameters
        self.shapes = shapes

    @classmethod
    def build(cls, parameters: dict[str, Any], shapes: Shapes) -> Self:
        """Make the method from its config entry. Raises `TypeError` naming a parameter it does not have."""
        return cls(cls.Parameters(**parameters), shapes)

    @abstractmethod
    def encode_images(self, images: Images) -> tuple[Tensor, ...]:
        """Everything about images that no sentence changes: tensors that all begin with the image."""

    @abstractmethod
    def encode_sentences(self, sentences: Sentences) -> tuple[Tensor, ...]:
        """Everything about sentences that no image changes: tensors that all begin with the sentence."""

    @abstractmethod
    def score(self, images: tuple[Tensor, ...], sentences: tuple[Tensor, ...]) -> Tensor:
        """(I, S) scores of every image with every sentence; higher is closer."""

    @abstractmethod
    def loss(self, batch: Batch) -> Tensor:
        """The training loss of a batch of matched pairs: a scalar."""
