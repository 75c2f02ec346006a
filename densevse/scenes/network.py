"""The small network of `scenes`, which takes the place of ImageNet's networks, and its training windows.

It learns from windows of the training pictures: whole pictures, the true boxes of things and phrases, and random boxes.
It predicts a window's class (a colour with a shape, several different things, or background), which is the class score
of a region. A second task predicts which of 4 x 4 cells hold a thing with an attribute, which attributes one thing
combines, and which are left of or above which. This makes fc7 distinguish "a red ball left of a blue box" from its
swap; the second task's weights are not kept. densevse/training/scenes.py trains it.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from torch import Tensor, nn

from densevse.artifacts.boxes import BOX, Boxes, intersection_over_union
from densevse.artifacts.images import Photographs
from densevse.vision.crops import warp
from snakeproof.errors import InputError

SEVERAL, BACKGROUND = "several things", "background"
UNDECIDED = -100  # ignored by cross entropy
CELLS = 4
HIDDEN = 512
GREY = (128, 128, 128)


class ScenesNet(nn.Module):
    """A network of four convolutions and three linear layers; attributes have the names of torchvision's classifiers.

    The hidden layers are normalised to learn faster, by window, so that a batch may have one window.

    Input (N, 3, S, S), S of at least 32 and 64 by configuration; output (N, classes) logits. The feature is
    `classifier.relu7` (N, 512).
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *_convolution(3, 16, size=5, stride=2),
            nn.MaxPool2d(2),
            *_convolution(16, 32),
            nn.MaxPool2d(2),
            *_convolution(32, 64),
            nn.MaxPool2d(2),
            *_convolution(64, 128),
        )
        # No average over places: the feature must show "left of".
        self.avgpool = nn.AdaptiveAvgPool2d(CELLS)
        self.classifier = nn.Sequential(
            OrderedDict(
                fc6=nn.Linear(128 * CELLS * CELLS, HIDDEN),
                norm6=nn.LayerNorm(HIDDEN),
                relu6=nn.ReLU(),
                fc7=nn.Linear(HIDDEN, HIDDEN),
                norm7=nn.LayerNorm(HIDDEN),
                relu7=nn.ReLU(),
                fc8=nn.Linear(HIDDEN, classes),
            )
        )

    def forward(self, x: Tensor) -> Tensor:
        """(N, 3, S, S) to (N, classes)."""
        logits: Tensor = self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))
        return logits

    def feature_and_logits(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """(N, 3, S, S) to (N, 512) activations of `classifier.relu7` and (N, classes)."""
        feature = self.classifier[:-1](torch.flatten(self.avgpool(self.features(x)), 1))
        return feature, self.classifier[-1](feature)


def untrained(architecture: str, state: Mapping[str, Tensor]) -> ScenesNet:
    """The network with random weights, and as many classes as the weights `state` have."""
    return ScenesNet(classes=len(state.get("classifier.fc8.bias", (0,))))


def _convolution(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)


@dataclass(frozen=True)
class WindowBatch:
    """Windows of pictures with their targets."""

    pixels: Tensor  # (N, size, size, 3) uint8
    classes: Tensor  # (N,) the class, or UNDECIDED
    facts: Tensor  # (N, facts) float32, 1 where a fact is true


class Windows:
    """Windows of pictures with their targets: three of each picture in an epoch.

    `images` and `boxes` are IMAGES and BOXES rows, `classes` the names of the network's classes. Windows have `size`
    pixels a side. Raises `InputError` for a thing of no class.
    """

    def __init__(
        self, images: pd.DataFrame, boxes: pd.DataFrame, files: Photographs, classes: list[str], size: int
    ) -> None:
        self.size = size
        self.classes = classes
        things = boxes[(boxes["caption_id"] == "") & boxes["image_id"].isin(images["image_id"])]
        self.attributes = sorted({word for phrase in things["phrase"].unique() for word in phrase.split()})
        known = {phrase: self._describe_thing(phrase) for phrase in things["phrase"].unique()}
        of_image, named = (dict(iter(some.groupby("image_id"))) for some in (things, boxes))
        self.pictures = [
            _LabelledPicture(
                files.pixels(source, file),
                of_image[image][BOX].to_numpy(np.float32),
                np.array([known[phrase][0] for phrase in of_image[image]["phrase"]]),
                np.stack([known[phrase][1] for phrase in of_image[image]["phrase"]]),
                named[image][BOX].drop_duplicates().to_numpy(np.float32),
            )
            for image, source, file in zip(images["image_id"], images["source"], images["file"], strict=True)
        ]

    def __len__(self) -> int:
        """The number of windows of an epoch: for each picture the whole, a true box and a random box."""
        return 3 * len(self.pictures)

    @property
    def fact_count(self) -> int:
        """The number of facts about a window; see `_facts`."""
        return len(self.attributes) * (CELLS * CELLS + 3 * len(self.attributes))

    def batch(self, numbers: Iterable[int], *seeds: int) -> WindowBatch:
        """The windows of these numbers; number and `seeds` decide the exact place of each."""
        windows = [
            self._window(self.pictures[number // 3], number % 3, np.random.default_rng((*seeds, number)))
            for number in map(int, numbers)
        ]
        return WindowBatch(*(torch.from_numpy(np.stack(part)) for part in zip(*windows, strict=True)))

    def _window(
        self, picture: "_LabelledPicture", kind: int, random: Generator
    ) -> tuple[NDArray[np.uint8], np.int64, NDArray[np.float32]]:
        window = (picture.whole_box, picture.named_box, picture.random_box)[kind](random)
        inside = picture.inside_mask(window)
        pixels = warp(picture.pixels, window, self.size, 0, GREY)
        things = picture.things[inside]
        where = ((things[:, :2] + things[:, 2:] / 2 - window[:2]) / window[2:]).astype(np.float32)
        if random.random() < 0.5:
            pixels, where[:, 0] = np.ascontiguousarray(pixels[:, ::-1]), 1 - where[:, 0]
        class_of = UNDECIDED if kind == 0 else self._window_class(picture, window, inside)
        return pixels, np.int64(class_of), _facts(where, picture.attributes[inside])

    def _window_class(self, picture: "_LabelledPicture", window: Boxes, inside: NDArray[np.bool_]) -> int:
        """The class of a window by its contents; background if it is empty or far too large."""
        if not inside.any():
            return self.classes.index(BACKGROUND)
        things = picture.things[inside]
        begin = things[:, :2].min(axis=0)
        around = np.concatenate([begin, (things[:, :2] + things[:, 2:]).max(axis=0) - begin])
        fit = float(intersection_over_union(window, around))
        if fit < 0.3:
            return self.classes.index(BACKGROUND)
        if fit < 0.5:
            return UNDECIDED
        classes = np.unique(picture.classes[inside])
        return int(classes[0]) if len(classes) == 1 else self.classes.index(SEVERAL)

    def _describe_thing(self, phrase: str) -> tuple[int, NDArray[np.float32]]:
        """A thing's class and attributes. Raises `InputError` if its name does not match exactly one class."""
        words = phrase.split()
        fitting = [number for number, name in enumerate(self.classes) if set(name.split()) <= set(words)]
        if len(fitting) != 1:
            raise InputError(f"a thing named {phrase!r} matches {len(fitting)} classes of the network; expected one.")
        return fitting[0], np.isin(self.attributes, words).astype(np.float32)


@dataclass(frozen=True)
class _LabelledPicture:
    pixels: NDArray[np.uint8]
    things: Boxes  # (things, 4)
    classes: NDArray[np.int64]  # (things,)
    attributes: NDArray[np.float32]  # (things, attributes)
    named: Boxes  # (n, 4) the distinct boxes of things and phrases

    def whole_box(self, random: Generator) -> Boxes:
        """The box of the whole picture, with its edges jittered."""
        height, width = self.pixels.shape[:2]
        return _jitter_box(np.array([0, 0, width, height], np.float32), 0.04, random)

    def named_box(self, random: Generator) -> Boxes:
        """The jittered box of a thing or a phrase."""
        return _jitter_box(self.named[random.integers(len(self.named))], 0.12, random)

    def random_box(self, random: Generator) -> Boxes:
        """A random box, or one badly placed on a thing, as proposals are."""
        if random.random() < 0.5:
            return _jitter_box(self.named[random.integers(len(self.named))], 0.5, random)
        height, width = self.pixels.shape[:2]
        size = random.uniform(0.1, 0.6, 2) * (width, height)
        return np.concatenate([random.uniform(0, 1, 2) * ((width, height) - size), size]).astype(np.float32)

    def inside_mask(self, window: Boxes) -> NDArray[np.bool_]:
        """The things that are mostly inside a window."""
        begin = np.maximum(self.things[:, :2], window[:2])
        end = np.minimum(self.things[:, :2] + self.things[:, 2:], window[:2] + window[2:])
        shared = np.clip(end - begin, 0, None).prod(axis=1)
        mostly: NDArray[np.bool_] = shared >= 0.6 * self.things[:, 2:].prod(axis=1)
        return mostly


def _facts(where: NDArray[np.float32], attributes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Facts about things at `where` (n, 2), in shares of the window, with `attributes` (n, A): 1 if true.

    First, for each cell, its attributes, (cells, A). Then, for each two attributes, whether one thing has both, whether
    one is left of the other, and whether it is above it, (3, A, A).
    """
    cells = np.zeros((CELLS, CELLS, attributes.shape[1]), np.float32)
    column, row = np.clip(where * CELLS, 0, CELLS - 1).astype(int).T
    np.maximum.at(cells, (row, column), attributes)
    right, down = np.moveaxis(where[None] - where[:, None], 2, 0)  # (n, n): the offset of the second from the first
    beside = np.abs(right) > np.abs(down)
    related = np.stack([np.eye(len(where), dtype=bool), beside & (right > 0), ~beside & (down > 0)])
    pairs = attributes.T @ related.astype(np.float32) @ attributes
    return np.concatenate([cells.ravel(), np.minimum(pairs, 1).ravel()])


def _jitter_box(box: Boxes, share: float, random: Generator) -> Boxes:
    """A box with each side moved by up to `share` of its length, and at least 4 pixels large."""
    begin = box[:2] + random.uniform(-share, share, 2) * box[2:]
    end = box[:2] + box[2:] + random.uniform(-share, share, 2) * box[2:]
    return np.concatenate([begin, np.maximum(end - begin, 4)]).astype(np.float32)
