"""`training.cpu_precision: bf16` against float32: training steps at the papers' sizes, and a fine-tuning of VGG19.

The margin of sm-LSTM is so large that every pair has a hinge. Times are those of the process's own work.
"""

import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torchvision.models import get_model

from benchmarks import sm_lstm, training
from benchmarks._timing import median_ratio
from densevse.methods.interface import Images, Moment
from densevse.runtime.numerics import fastest_precision, set_up
from densevse.vision.concept_network import multi_label_loss, replace_head

Views = Mapping[str, tuple[int, ...]]


class Sizes(NamedTuple):
    """Those of the benchmark `training`, of the methods, of the network that is fine-tuned, and of its batch."""

    training: training.Sizes
    methods: Mapping[str, tuple[Mapping[str, Any], Views]]  # its parameters, and the shapes of an image's views
    network: str
    images: int
    side: int
    concepts: int
    pairs: int


ALL_HINGES = {"margin": 100.0}
FULL = Sizes(
    training.FULL,
    methods={
        "vse": ({"encoder": "lstm"}, {"whole": (4096,)}),
        "sco": ({}, {"ten_crop": (4096,), "concepts": (256,)}),
        "sm_lstm": (ALL_HINGES, {"grid": (196, 512), "whole": (4096,)}),
    },
    network="vgg19",
    images=8,
    side=224,
    concepts=256,
    pairs=3,
)
TOY = Sizes(
    training.TOY,
    methods={
        "vse": ({"dimension": 6, "word_dimension": 5}, {"whole": (5,)}),
        "sco": ({"dimension": 6, "word_dimension": 5}, {"ten_crop": (5,), "concepts": (3,)}),
        "sm_lstm": (sm_lstm.SMALL.model_dump() | ALL_HINGES, {"grid": (3, 4), "whole": (5,)}),
    },
    network="alexnet",
    images=1,
    side=64,
    concepts=3,
    pairs=1,
)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note."""
    set_up(torch.get_num_threads())
    steps = {name: _training_step(name, *of, sizes.training) for name, of in sizes.methods.items()}
    steps[f"{sizes.network}, all layers"] = _fine_tuning_step(sizes)
    target, note = (">= 1", "") if fastest_precision() == "bf16" else ("", "this processor refuses the key")
    return [
        (f"{name}: training step in float32 / bf16", target, _as_fast(step, sizes.pairs), note)
        for name, step in steps.items()
    ]


def _as_fast(step: Callable[[bool], object], pairs: int) -> float:
    """The speed of a step in bf16 as a multiple of that in float32."""

    def seconds(half: bool) -> float:
        start = time.process_time()
        step(half)
        return time.process_time() - start

    return median_ratio(lambda: seconds(True), lambda: seconds(False), pairs)


def _training_step(
    name: str, parameters: Mapping[str, Any], views: Views, sizes: training.Sizes
) -> Callable[[bool], object]:
    """A step of a method's trainer on random features, in bf16 or not."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = training.made_pairs(Path(folder), sizes)
        features = {view: shape[-1] for view, shape in views.items()}
        trainer = training.made_trainer(name, dict(parameters), features, pairs, Path(folder), sizes)
        drawn = np.random.default_rng(1).choice(trainer.task.examples, sizes.batch, replace=False)
        batch = trainer.task.batch(drawn, 1)
    shown = Images({view: torch.rand(sizes.batch, *shape) for view, shape in views.items()}, batch.images.present)
    batch = replace(batch, images=shown)

    def step(half: bool) -> object:
        trainer.half = half
        return trainer.step(batch, Moment(1, "main", trainer.task.parameters), 2e-4)

    return step


def _fine_tuning_step(sizes: Sizes) -> Callable[[bool], object]:
    """A step of all layers of a network that predicts concepts from pixels, in bf16 or not."""
    network = replace_head(get_model(sizes.network, weights=None), torch.full((sizes.concepts,), 0.1))
    optimizer = torch.optim.SGD(network.parameters(), 1e-3, 0.9, fused=True)
    pixels = torch.rand(sizes.images, 3, sizes.side, sizes.side)
    present = torch.rand(sizes.images, sizes.concepts) < 0.1

    def step(half: bool) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            loss = multi_label_loss(network(pixels).float(), present).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step
