"""The training task of every retrieval method: batches of matched pairs, with val ranked as the test split is."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from densevse.config.training import TrainingJob
from densevse.data.files import Files
from densevse.data.inputs import Inputs, Pairs
from densevse.evaluation.metrics import RECALL_COLUMNS
from densevse.evaluation.ranks import evaluate, metrics
from densevse.evaluation.recall import query_failures
from densevse.methods.interface import Batch, Encoding, Images, Method, Moment, Sentences, replace_parts
from densevse.models.attention import entropies
from densevse.models.encoding import encode_images, encode_sentences
from densevse.models.files import build_method, check_round, load_weights, save_model
from densevse.models.scoring import scorer
from densevse.runtime.arrays import Indices, spaced_indices
from densevse.runtime.on_gpu import feature_limit
from densevse.training.loop import TrainingSpec, drive
from densevse.training.task import Task
from snakeproof.errors import InputError
from snakeproof.logs import logger
from snakeproof.strict import validate

MEASURES = [*RECALL_COLUMNS, "rsum"]
MEASURED_IMAGES = 200  # of which a method measures the scale of its input; a mean norm is then known to about 1%
FITTED_AT_ONCE = 512  # pairs, by a method with a closed form
START, _CORRESPONDENCES = "start", "correspondences"  # optional inputs


class Saved(NamedTuple):
    """The contents of a model's file besides the method."""

    method: str  # its module's name
    sentences: Sequence[str]  # the structures that it reads
    features: Mapping[str, Any]  # view -> how its features see images


class Retrieval(Task):
    """Trains a method on the pairs of `train`, and keeps the epoch with the largest rsum on `val`."""

    selects = "rsum"

    def __init__(
        self, method: Method, train: Pairs, val: Pairs, saved: "Saved | None" = None, siblings: int = 0
    ) -> None:
        """`saved` is what its file holds besides the method; a task without it is trained and not saved.

        So many `siblings`, other sentences of its image, join each sentence of a batch.
        """
        self.module: Method = method
        self.saved, self.siblings = saved, siblings
        self.parameters = method.hyperparameters
        self.train, self.val = train, val
        self.examples = len(train.rows.caption_ids)
        self._said: set[str] = set()

    def to(self, device: torch.device) -> None:
        """Moves the method and, where they fit, the features that it reads."""
        super().to(device)
        if device.type == "cpu":
            return
        most = feature_limit(device)
        for pairs in (self.train, self.val):
            most -= pairs.send_to(device, most)

    def batch(self, examples: Indices, epoch: int) -> Batch:
        """The sentences of these numbers and their siblings, each with its image, and the method's plan of them."""
        batch = self.train.batch(add_siblings(examples, self.siblings, self.train.rows.image_of_caption, epoch))
        return replace(batch, sentences=replace(batch.sentences, plan=self.module.plan(batch.sentences)))

    def loss(self, batch: Batch, moment: Moment) -> Tensor:
        """The method's loss; encodings may be in half precision, scores and the loss are in float32."""
        images, sentences = self.module.encode_batch(batch)
        with torch.autocast(images[0].device.type, enabled=False):
            return self.module.loss(_to_float32(images), _to_float32(sentences), batch, moment)

    def validate(self) -> dict[str, float]:
        """R@K both ways and their rsum on the validation split, ranked as the test split is.

        For a method with attention over places and words, also its mean entropy.
        """
        attention = entropies(self.module, self.val) if self.module.can("saliency") else {}
        return {**recalls_and_rsum(self.module, self.val, self._said), **attention}

    def save(self, path: Path, **found: Any) -> None:
        """Writes the model with how it sees images."""
        if self.saved is None:
            raise ValueError("a task without `saved` has no file")
        save_model(self.module, self.saved.method, self.saved.sentences, path, **found, features=self.saved.features)


def add_siblings(examples: Indices, number: int, image_of_caption: Indices, epoch: int) -> Indices:
    """Adds to each sentence `number` others of its image; each epoch takes the next ones in turn.

    `image_of_caption` is that of all sentences, grouped by image. No sentence comes twice.
    """
    if number == 0:
        return examples
    image = image_of_caption[examples]
    first, end = (np.searchsorted(image_of_caption, image, side) for side in ("left", "right"))
    others = end - first - 1
    found = [examples]
    for turn in range(min(number, others.max())):
        step = 1 + (epoch * number + turn) % np.maximum(others, 1)
        joins = turn < others
        found.append((first + (examples - first + step) % (others + 1))[joins])
    return np.unique(np.concatenate(found))


def recalls_and_rsum(method: Method, pairs: Pairs, said: set[str]) -> dict[str, float]:
    """R@K both ways and their rsum of a method on val.

    A warning tells if they are no better than chance, and joins `said`; otherwise each epoch on a small val repeats it.
    """
    rows = pairs.rows
    every_image, every_sentence = np.arange(len(rows.image_ids)), np.arange(len(rows.caption_ids))
    score = scorer(method, encode_images(method, pairs), encode_sentences(method, pairs))
    ranks = evaluate(score(every_image, every_sentence), rows.image_of_caption, len(every_image))
    counts = np.bincount(rows.image_of_caption, minlength=len(every_image))
    asks = every_image[counts > 0]
    found = query_failures(ranks.i2t, len(every_sentence), counts[asks], asks)
    found |= query_failures(ranks.t2i, len(every_image), 1, rows.image_of_caption)
    for failure in sorted(found - said):
        logger.warning("on val: %s It is said once.", failure)
    said |= found
    measured = metrics(ranks)
    return {name: measured[name] for name in MEASURES}


def _to_float32(encoding: Encoding) -> Encoding:
    return replace_parts(encoding, (part.float() if part.is_floating_point() else part for part in encoding))


def prepare_task(job: TrainingJob, inputs: Inputs, start: str | None = None) -> Retrieval:
    """The task of a job before its training, with the weights of the model `start` if there is one.

    Raises `InputError` if the method cannot be built, or the weights or the features do not fit.
    """
    method = build_method(job.method, job.parameters, inputs.shapes())
    val = inputs.pairs("val", method.regions_read, job.training.validation_images)
    pairs = inputs.pairs("train", method.regions_read, job.training.training_images)
    if start is not None:
        load_weights(method, job.method, start)
        logger.info("starting from the weights of %s", start)
    elif method.can("measure"):
        measure(method, pairs)
    elif method.can("fit"):
        method.fit(_all_pairs(pairs))
    saved = Saved(job.method, job.sentences, inputs.feature_settings())
    return Retrieval(method, pairs, val, saved, job.training.siblings)


def _all_pairs(pairs: Pairs) -> Iterator[tuple[Images, Sentences]]:
    """Every sentence of a split with its image, in batches."""
    count = len(pairs.rows.caption_ids)
    for begin in range(0, count, FITTED_AT_ONCE):
        batch = pairs.batch(np.arange(begin, min(begin + FITTED_AT_ONCE, count)))
        yield batch.images, batch.sentences


def measure(method: Method, pairs: Pairs) -> None:
    """Lets a method measure or keep some of the training images. Raises `InputError` if it cannot."""
    some = spaced_indices(len(pairs.rows.image_ids), MEASURED_IMAGES)
    try:
        method.measure(pairs.images(some))
    except ValueError as error:
        raise InputError(f"{error}; look at the files of the data set's features") from error


def train(job: Mapping[str, Any], code: str, model: str, history: str, **files: str | list[str]) -> None:
    """The job that trains a round of a method and writes its `model` and `history`; see `drive`.

    `job` has the settings of `TrainingJob`, and `files` are its inputs. Training starts from the weights of the file
    `start`, if there is one: the model of the round before, or of another method. Raises `InputError` if that is of
    another round.
    """
    settings, inputs = validate(TrainingJob, {**job, "code": code}, "training"), Files(files)
    start = inputs.input_path(START) if START in inputs else None
    if start is not None and _CORRESPONDENCES in inputs:
        check_round(start, {"seed": str(settings.seed), "round": str(settings.round - 1)})
    names = (settings.method, f"round{settings.round}")
    spec = TrainingSpec(settings, names, inputs, starts_trained=start is not None)
    drive(spec, lambda: prepare_task(settings, Inputs(inputs, settings.sentences), start), model, history)
