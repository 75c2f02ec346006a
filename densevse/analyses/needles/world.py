"""Generates images of marked cells, and sentences about some of these: a task for sm-LSTM's attention.

Every image has the same symbols, one in each cell, so their mean has no information about the image. Some cells are
marked, three by each mark. The sentences name the three symbols under one mark, with filler words. Only a model that
selects the cells under this mark can distinguish images. The mark is always the first, or given by the vector of the
whole image, or by a word of the sentence.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from densevse.analyses.needles.settings import NEEDLES, Needles
from densevse.artifacts.matrices import write_matrix
from snakeproof.files import write_text
from snakeproof.strict import validate

_SENTENCES, _FILLERS, _FILLER_COUNT = 5, ("here", "there", "now", "then", "soon", "often"), 2
_SPLITS = {"train": "train", "val": "dev", "test": "test"}
"""Splits, and SCAN's names of them in files."""


class NeedleImages(NamedTuple):
    """Images of a split with their sentences."""

    cells: NDArray[np.float32]  # (n, cells, length)
    contexts: NDArray[np.float32]  # (n, length) the vectors of whole images
    sentences: list[str]  # five for each image


def generate(options: dict[str, Any], precomp: str | Path, whole: str | Path, ids: str | Path) -> None:
    """The job that writes a data set: SCAN's folder `precomp`, and vectors of whole images with their ids.

    `options` are the settings of `Needles`.
    """
    settings = validate(Needles, options, "needles")
    Path(precomp).mkdir(parents=True, exist_ok=True)
    names: list[str] = []
    contexts = []
    for number, (split, name) in enumerate(_SPLITS.items()):
        count = getattr(settings.images, split)
        made = images(settings, count, np.random.default_rng([settings.seed, number]))
        of_split = [f"{split}{image}" for image in range(count)]
        write_matrix(made.cells, Path(precomp, f"{name}_ims.npy"))
        write_text(_lines(made.sentences), Path(precomp, f"{name}_caps.txt"))
        write_text(_lines(of_split), Path(precomp, f"{name}_ids.txt"))
        contexts.append(made.contexts)
        names += of_split
    write_matrix(np.concatenate(contexts), whole)
    write_text(_lines(names), ids)


def images(settings: Needles, count: int, random: np.random.Generator) -> NeedleImages:
    """Some images of the world that a seed of the settings makes."""
    world = np.random.default_rng(settings.seed)
    symbols = world.normal(size=(settings.cells, settings.length))
    marks = world.normal(size=(settings.groups, settings.length))
    symbol = _random_orders(count, settings.cells, random)  # (n, cells), first the three under each mark
    about = _groups(settings, count, random)
    marked = np.zeros((settings.cells, settings.length))
    marked[: NEEDLES * settings.groups] = marks.repeat(NEEDLES, axis=0)
    order = _random_orders(count, settings.cells, random)
    cells = symbols[np.take_along_axis(symbol, order, axis=1)] + marked[order]
    # Where it tells nothing, it is alike for all images: noise alone, once scaled, would name each image of training.
    contexts = marks[about[:, 0]] if settings.told_by == "context" else marks.mean(axis=0)[None].repeat(count, axis=0)
    sentences = [
        _sentence(settings, symbol[image, NEEDLES * group : NEEDLES * (group + 1)], group, random)
        for image in range(count)
        for group in about[image]
    ]
    return NeedleImages(_add_noise(cells, settings, random), _add_noise(contexts, settings, random), sentences)


def _groups(settings: Needles, count: int, random: np.random.Generator) -> NDArray[np.int64]:
    """(n, 5) the mark of each sentence."""
    if settings.told_by == "nothing":
        return np.zeros((count, _SENTENCES), np.int64)
    if settings.told_by == "context":
        return random.integers(settings.groups, size=(count, 1)).repeat(_SENTENCES, axis=1)
    return random.integers(settings.groups, size=(count, _SENTENCES))


def _sentence(settings: Needles, symbols: NDArray[np.int64], group: int, random: np.random.Generator) -> str:
    words = [f"symbol{symbol}" for symbol in random.permutation(symbols)]
    words += random.choice(_FILLERS, _FILLER_COUNT).tolist()
    return " ".join([f"mark{group}", *words] if settings.told_by == "sentence" else words)


def _add_noise(vectors: NDArray[np.float64], settings: Needles, random: np.random.Generator) -> NDArray[np.float32]:
    return (vectors + settings.noise * random.normal(size=vectors.shape)).astype(np.float32)


def _random_orders(count: int, length: int, random: np.random.Generator) -> NDArray[np.int64]:
    """(count, length) numbers from 0, each row in a random order."""
    return random.random((count, length)).argsort(axis=1)


def _lines(texts: list[str]) -> str:
    return "".join(f"{text}\n" for text in texts)
