"""`training.cpu_precision: bf16` against float32: training steps at the papers' sizes, and a fine-tuning of VGG19.

The margin of sm-LSTM is so large that every pair has a hinge. Times are those of the process's own work.
"""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
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


class Step(NamedTuple):
    """A method's parameters, the shapes of an image's views, and the sentences of a batch."""

    parameters: Mapping[str, Any]
    views: Mapping[str, tuple[int, ...]]
    batch: int


class Sizes(NamedTuple):
    """Those of the benchmark `training`, of methods' steps, of the network that is fine-tuned, and of its batch."""

    training: training.Sizes
    steps: Mapping[str, Step]
    network: str
    images: int
    side: int
    concepts: int
    pairs: int


ALL_HINGES = {"margin": 100.0}
FULL = Sizes(
    training.FULL,
    steps={
        "vse": Step({"encoder": "lstm"}, {"whole": (4096,)}, batch=128),
        "sco": Step({}, {"ten_crop": (4096,), "concepts": (256,)}, batch=129),
        "sm_lstm": Step(ALL_HINGES, {"grid": (196, 512), "whole": (4096,)}, batch=64),
    },
    network="vgg19",
    images=8,
    side=224,
    concepts=256,
    pairs=3,
)
SMALL = {"dimension": 6, "word_dimension": 5}
TOY = Sizes(
    training.TOY,
    steps={
        "vse": Step(SMALL, {"whole": (5,)}, batch=4),
        "sco": Step(SMALL, {"ten_crop": (5,), "concepts": (3,)}, batch=4),
        "sm_lstm": Step(sm_lstm.SMALL.model_dump() | ALL_HINGES, {"grid": (3, 4), "whole": (5,)}, batch=4),
    },
    network="alexnet",
    images=1,
    side=64,
    concepts=3,
    pairs=1,
)


def rows(sizes: Sizes = FULL) -> Iterator[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note. Methods have no target: their encoders are a small part of a step."""
    set_up(torch.get_num_threads())
    note = "" if fastest_precision() == "bf16" else "this processor refuses the key"
    for name, of in sizes.steps.items():
        ratio = _as_fast(_training_step(name, of, sizes.training), sizes.pairs)
        yield f"{name}: training step in float32 / bf16", "", ratio, note or f"batch of {of.batch}"
    what, ratio = f"all layers of {sizes.network}", _as_fast(_fine_tuning_step(sizes), sizes.pairs)
    yield f"{what}: training step in float32 / bf16", "" if note else ">= 1.5", ratio, note or f"{sizes.images} images"


def _as_fast(step: Callable[[bool], object], pairs: int) -> float:
    """The speed of a step in bf16 as a multiple of that in float32."""

    def seconds(half: bool) -> float:
        start = time.process_time()
        step(half)
        return time.process_time() - start

    return median_ratio(lambda: seconds(True), lambda: seconds(False), pairs)


def _training_step(name: str, of: Step, sizes: training.Sizes) -> Callable[[bool], object]:
    """A step of a method's trainer on random features, in bf16 or not."""
    with tempfile.TemporaryDirectory() as folder:
        pairs = training.made_pairs(Path(folder), sizes)
        features = {view: shape[-1] for view, shape in of.views.items()}
        trainer = training.made_trainer(name, dict(of.parameters), features, pairs, Path(folder), sizes)
        batch = trainer.task.batch(np.random.default_rng(1).choice(trainer.task.examples, of.batch, replace=False), 1)
    shown = {view: torch.rand(of.batch, *shape) for view, shape in of.views.items()}
    batch = replace(batch, images=Images(shown, batch.images.present))

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
