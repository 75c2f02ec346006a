"""The small network of `scenes`, and how it is trained: it takes the place of ImageNet's networks there.

It learns from windows of the training pictures: whole pictures, the true boxes of things and phrases, and boxes drawn
at random. Of each it tells the class (a colour with a shape, several unlike things, or background: the class score of
a region), and as a second task in which of 4 x 4 cells there is a thing with an attribute, which attributes one thing
has together, and which are left of or above which. That is what makes fc7 tell "a red ball left of a blue box" from
its swap; the second task's weights are not kept.
"""

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from numpy.random import Generator
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, nn
from torch.nn import functional

from densevse.artifacts.boxes import BOX, Boxes, intersection_over_union
from densevse.artifacts.files import atomic
from densevse.artifacts.schema import read
from densevse.artifacts.schemas.datasets import BOXES, IMAGES
from densevse.datasets.images import ImageFiles, decode
from densevse.errors import InputError
from densevse.logs import logger, progress
from densevse.vision.crops import warp

SEVERAL, BACKGROUND = "several things", "background"
UNDECIDED = -100  # what cross entropy passes over
CELLS = 4
HIDDEN = 512
GREY = (128, 128, 128)


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How the network is trained."""

    epochs: int = 8
    batch_size: int = 64
    learning_rate: float = 3e-3
    weight_decay: float = 1e-4
    seed: int = 0


class ScenesNet(nn.Module):
    """Four convolutions and three linear layers; attributes are named as torchvision's classifiers name them.

    Input (N, 3, S, S), S of at least 32 and 64 by configuration; output (N, classes) logits. The feature is
    `classifier.relu7` (N, 512).
    """

    def __init__(self, classes: int) -> None:
        super().__init__()
        self.features = nn.Sequential(
            *_convolution(3, 32, size=5, stride=2),
            nn.MaxPool2d(2),
            *_convolution(32, 64),
            *_convolution(64, 96),
            nn.MaxPool2d(2),
            *_convolution(96, 128),
        )
        # Where a thing is must not be averaged away: "left of" is to be read from the feature.
        self.avgpool = nn.AdaptiveAvgPool2d(CELLS)
        self.classifier = nn.Sequential(
            OrderedDict(
                fc6=nn.Linear(128 * CELLS * CELLS, HIDDEN),
                relu6=nn.ReLU(),
                drop6=nn.Dropout(0.2),
                fc7=nn.Linear(HIDDEN, HIDDEN),
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


def _convolution(inputs: int, outputs: int, size: int = 3, stride: int = 1) -> tuple[nn.Module, ...]:
    convolution = nn.Conv2d(inputs, outputs, size, stride, padding=size // 2, bias=False)
    return convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)


def train_scenes_net(
    image_table: str,
    box_table: str,
    sources: Mapping[str, str],
    network: Mapping[str, Any],
    classes: list[str],
    threads: int,
    path: str | Path,
    recipe: Recipe | None = None,
) -> None:
    """Train on the pictures and true boxes of the training split, and write the weights as safetensors.

    `sources` are paths of image files by source name, `network` has the keys size, mean and std of the network's
    entry in the configuration, `classes` are the names of its classes. Raises `InputError` for a thing of no class.
    """
    recipe = recipe or Recipe()
    torch.set_num_threads(threads)
    torch.manual_seed(recipe.seed)
    images = read(image_table, IMAGES)
    images = images[(images["split"] == "train") & (images["status"] == "ok")]
    scenes = _Scenes(images, read(box_table, BOXES), ImageFiles(sources), classes)
    model = _fit(scenes, network, recipe)
    weights = {name: value.contiguous().cpu() for name, value in model.state_dict().items()}
    with atomic(path) as temporary:
        save_file(weights, temporary)


def _fit(scenes: "_Scenes", network: Mapping[str, Any], recipe: Recipe) -> ScenesNet:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = ScenesNet(len(scenes.classes)).to(device)
    model.features.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    facts = nn.Linear(HIDDEN, scenes.facts).to(device)
    weights = [*model.parameters(), *facts.parameters()]
    optimizer = torch.optim.AdamW(weights, weight_decay=recipe.weight_decay)
    steps = recipe.epochs * -(-scenes.windows_an_epoch // recipe.batch_size)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, recipe.learning_rate, total_steps=steps)
    mean, std = (255 * torch.tensor(network[name], device=device).view(3, 1, 1) for name in ("mean", "std"))
    random = np.random.default_rng(recipe.seed)
    for epoch in progress(range(recipe.epochs), "epochs", recipe.epochs):
        losses = []
        for batch in scenes.batches(recipe.batch_size, network["size"], random):
            pixels, class_of, facts_of = (torch.from_numpy(part).to(device) for part in batch)
            pixels = ((pixels.permute(0, 3, 1, 2).float() - mean) / std).contiguous(memory_format=torch.channels_last)
            feature, logits = model.feature_and_logits(pixels)
            loss = functional.cross_entropy(logits, class_of, ignore_index=UNDECIDED)
            # Summed over the facts: most are not so, and a mean would vanish beside the classes' loss.
            found = functional.binary_cross_entropy_with_logits(facts(feature), facts_of, reduction="sum")
            loss = loss + found / (10 * len(pixels))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            losses.append(loss.item())
        logger.info("epoch %d: loss %.4f", epoch + 1, float(np.mean(losses)))
    return model


class _Scenes:
    """Windows of pictures, with what is to be said of each."""

    def __init__(self, images: pd.DataFrame, boxes: pd.DataFrame, files: ImageFiles, classes: list[str]) -> None:
        self.classes = classes
        things = boxes[(boxes["caption_id"] == "") & boxes["image_id"].isin(images["image_id"])]
        self.attributes = sorted({word for phrase in things["phrase"].unique() for word in phrase.split()})
        known = {phrase: self._described(phrase) for phrase in things["phrase"].unique()}
        of_image, named = (dict(iter(some.groupby("image_id"))) for some in (things, boxes))
        self.pictures = [
            _Picture(
                decode(files.read(source, file), file),
                of_image[image][BOX].to_numpy(np.float32),
                np.array([known[phrase][0] for phrase in of_image[image]["phrase"]]),
                np.stack([known[phrase][1] for phrase in of_image[image]["phrase"]]),
                named[image][BOX].drop_duplicates().to_numpy(np.float32),
            )
            for image, source, file in zip(images["image_id"], images["source"], images["file"], strict=True)
        ]

    @property
    def windows_an_epoch(self) -> int:
        """The whole of each picture, a true box and a box at random."""
        return 3 * len(self.pictures)

    @property
    def facts(self) -> int:
        """How many facts are told of a window: see `_facts`."""
        return len(self.attributes) * (CELLS * CELLS + 3 * len(self.attributes))

    def batches(self, batch_size: int, size: int, random: Generator) -> Iterator[tuple[NDArray[Any], ...]]:
        """Batches of an epoch: pixels (N, size, size, 3), class (N,), and what is so (N, facts)."""
        order = random.permutation(self.windows_an_epoch)
        for start in range(0, len(order), batch_size):
            windows = [
                self._window(self.pictures[number // 3], number % 3, size, random)
                for number in order[start : start + batch_size]
            ]
            yield tuple(np.stack(part) for part in zip(*windows, strict=True))

    def _window(
        self, picture: "_Picture", kind: int, size: int, random: Generator
    ) -> tuple[NDArray[np.uint8], np.int64, NDArray[np.float32]]:
        window = (picture.whole, picture.named_box, picture.random_box)[kind](random)
        inside = picture.inside(window)
        pixels = warp(picture.pixels, window, size, 0, GREY)
        things = picture.things[inside]
        where = ((things[:, :2] + things[:, 2:] / 2 - window[:2]) / window[2:]).astype(np.float32)
        if random.random() < 0.5:
            pixels, where[:, 0] = np.ascontiguousarray(pixels[:, ::-1]), 1 - where[:, 0]
        class_of = UNDECIDED if kind == 0 else self._class_of(picture, window, inside)
        return pixels, np.int64(class_of), _facts(where, picture.attributes[inside])

    def _class_of(self, picture: "_Picture", window: Boxes, inside: NDArray[np.bool_]) -> int:
        """The class of a window that fits what is inside; background if nothing is, or it is far too large."""
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

    def _described(self, phrase: str) -> tuple[int, NDArray[np.float32]]:
        """A thing's class and attributes. Raises `InputError` if its name has the words of no one class."""
        words = phrase.split()
        fitting = [number for number, name in enumerate(self.classes) if set(name.split()) <= set(words)]
        if len(fitting) != 1:
            raise InputError(f"a thing named {phrase!r} is of {len(fitting)} classes of the network; expected one.")
        return fitting[0], np.isin(self.attributes, words).astype(np.float32)


@dataclass(frozen=True)
class _Picture:
    pixels: NDArray[np.uint8]
    things: Boxes  # (things, 4)
    classes: NDArray[np.int64]  # (things,)
    attributes: NDArray[np.float32]  # (things, attributes)
    named: Boxes  # (n, 4) the distinct boxes of things and phrases

    def whole(self, random: Generator) -> Boxes:
        """The picture, a little more or less of it."""
        height, width = self.pixels.shape[:2]
        return _jittered(np.array([0, 0, width, height], np.float32), 0.04, random)

    def named_box(self, random: Generator) -> Boxes:
        """The box of a thing or a phrase, about."""
        return _jittered(self.named[random.integers(len(self.named))], 0.12, random)

    def random_box(self, random: Generator) -> Boxes:
        """A box anywhere, or one that is ill placed on a thing, as proposals are."""
        if random.random() < 0.5:
            return _jittered(self.named[random.integers(len(self.named))], 0.5, random)
        height, width = self.pixels.shape[:2]
        size = random.uniform(0.1, 0.6, 2) * (width, height)
        return np.concatenate([random.uniform(0, 1, 2) * ((width, height) - size), size]).astype(np.float32)

    def inside(self, window: Boxes) -> NDArray[np.bool_]:
        """Which things are mostly inside a window."""
        begin = np.maximum(self.things[:, :2], window[:2])
        end = np.minimum(self.things[:, :2] + self.things[:, 2:], window[:2] + window[2:])
        shared = np.clip(end - begin, 0, None).prod(axis=1)
        mostly: NDArray[np.bool_] = shared >= 0.6 * self.things[:, 2:].prod(axis=1)
        return mostly


def _facts(where: NDArray[np.float32], attributes: NDArray[np.float32]) -> NDArray[np.float32]:
    """What is so of things at `where` (n, 2), in shares of the window, with `attributes` (n, A): 1 where it is.

    First for each cell which attributes are there, (cells, A); then for each two attributes whether one thing has
    both, whether one is left of the other, and whether it is above it, (3, A, A).
    """
    cells = np.zeros((CELLS, CELLS, attributes.shape[1]), np.float32)
    column, row = np.clip(where * CELLS, 0, CELLS - 1).astype(int).T
    np.maximum.at(cells, (row, column), attributes)
    right, down = np.moveaxis(where[None] - where[:, None], 2, 0)  # (n, n): where the second is, seen from the first
    beside = np.abs(right) > np.abs(down)
    related = np.stack([np.eye(len(where), dtype=bool), beside & (right > 0), ~beside & (down > 0)])
    pairs = np.einsum("rij,ia,jb->rab", related.astype(np.float32), attributes, attributes)
    return np.concatenate([cells.ravel(), np.minimum(pairs, 1).ravel()])


def _jittered(box: Boxes, share: float, random: Generator) -> Boxes:
    """A box with each side moved by up to `share` of its length, and at least 4 pixels large."""
    begin = box[:2] + random.uniform(-share, share, 2) * box[2:]
    end = box[:2] + box[2:] + random.uniform(-share, share, 2) * box[2:]
    return np.concatenate([begin, np.maximum(end - begin, 4)]).astype(np.float32)
