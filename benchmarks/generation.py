"""A training step of SCO's full model (cnp + ctx + gen) against its bare matrix products.

Captions are those of the benchmark `training`; the decoder's softmax over 8,002 words is the largest product. Sizes
are the defaults of densevse/methods/parameters/sco.py: H = 1,024, D = 300; a context of 4,096 and 256 concepts.
"""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch

from benchmarks import training
from benchmarks.training import (
    best_of,
    linear,
    made_pairs,
    made_trainer,
    note,
    products_of_recurrence,
    products_of_scores,
)
from densevse.kernels.recurrent import prefixes, teaching
from densevse.methods.interface import Batch, Images, Moment
from densevse.methods.sco import SCO
from densevse.runtime.numerics import set_up


class Sizes(NamedTuple):
    """Those of the benchmark `training`, and the concepts of an image."""

    training: training.Sizes
    concepts: int


FULL = Sizes(training.FULL, concepts=256)
TOY = Sizes(training.TOY, concepts=3)


def rows(sizes: Sizes = FULL) -> list[tuple[str, str, float, str]]:
    """Rows of name, target, ratio and note; the best of alternating runs."""
    set_up(torch.get_num_threads())
    count, views = sizes.training.batch, {"ten_crop": sizes.training.feature, "concepts": sizes.concepts}
    parameters = {"dimension": sizes.training.dimension, "word_dimension": sizes.training.word_dimension}
    with tempfile.TemporaryDirectory() as folder:
        pairs = made_pairs(Path(folder), sizes.training)
        trainer = made_trainer("sco", parameters, views, pairs, Path(folder), sizes.training)
        numbers = np.random.default_rng(1).choice(len(pairs.rows.caption_ids), count, replace=False)
        batch = _with_views(pairs.batch(numbers), views, count)
        method, moment = trainer.task.module, Moment(1, "main", trainer.task.parameters)
        step, products = best_of(
            sizes.training.runs, lambda: trainer.step(batch, moment, 2e-4), bare_products(method, batch, count)
        )
    words = f"{int(batch.sentences['words'].lengths.sum())} words and {count} ends to be predicted"
    return [
        ("SCO training step / its bare matrix products", "<= 2", step / products, f"{note(step, products)}; {words}")
    ]


def _with_views(batch: Batch, sizes: dict[str, int], count: int) -> Batch:
    views = {view: torch.rand(count, size) for view, size in sizes.items()}
    return replace(batch, images=Images(views, batch.images.present))


def bare_products(method: SCO, batch: Batch, count: int) -> Callable[[], None]:
    """The products that a step requires, on numbers of the right shapes."""
    words, decoder = batch.sentences["words"].index_on_host(), method.decoder
    taught = teaching(words, words)
    recurrences = [
        products_of_recurrence(method.sentence, prefixes(words, torch.device("cpu"))),
        products_of_recurrence(decoder.recurrent, taught.tree),
    ]
    sizes = method.sentence.weight_hidden.shape[1], decoder.words.embedding_dim, decoder.words.num_embeddings
    states, projected, logits = (torch.randn(len(taught.target), size) for size in sizes)
    project, table = decoder.project.weight, decoder.words.weight
    joint = torch.randn(count, sizes[0])
    fusion = method.image
    joined = [
        (batch.images.views["ten_crop"], (fusion.w_g.weight, fusion.u_g.weight)),
        (batch.images.views["concepts"], (fusion.w_l.weight, fusion.u_l.weight)),
    ]

    def multiply() -> None:
        with torch.inference_mode():
            for recurrence in recurrences:
                recurrence()
            linear(states, project, projected)
            projected @ project
            linear(projected, table, logits)
            logits @ table
            for features, weights in joined:
                for weight in weights:
                    linear(features, weight, joint)
            products_of_scores(joint)

    return multiply
