"""The training task of every retrieval method: batches of matched pairs, with val ranked as the test split is."""

from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from densevse.artifacts.identity import Identity
from densevse.config.training import TrainingJob
from densevse.data.files import Files
from densevse.data.inputs import NETWORK, Inputs
from densevse.data.pairs import Pairs
from densevse.evaluation.metrics import RECALL_COLUMNS
from densevse.evaluation.ranks import evaluate, metrics
from densevse.inference.attention import entropies
from densevse.inference.encoding import encode_images, encode_sentences
from densevse.inference.models import build, load_weights
from densevse.inference.scoring import scorer
from densevse.kernels.arrays import in_float32
from densevse.methods.interface import Batch, Encoding, Method, Moment, with_parts
from densevse.runtime.arrays import Indices
from densevse.runtime.errors import InputError
from densevse.runtime.logs import logger
from densevse.runtime.spacing import evenly_spaced
from densevse.training.driver import Subject, drive
from densevse.training.models import trainable_model
from densevse.training.task import Task

MEASURES = [*RECALL_COLUMNS, "rsum"]
MEASURED_IMAGES = 200  # of which a method measures the scale of its input; a mean norm is then known to about 1%
START, _CORRESPONDENCES = "start", "correspondences"  # optional inputs


class Retrieval(Task):
    """Trains a method on the pairs of `train`, and keeps the epoch with the largest Sum on `val`."""

    selects = "rsum"

    def __init__(self, method: Method, train: Pairs, val: Pairs) -> None:
        self.module: Method = method
        self.parameters = method.hyperparameters
        self.train, self.val = train, val
        self.examples = len(train.rows.caption_ids)

    def batch(self, examples: Indices, epoch: int) -> Batch:
        """The sentences of these numbers, each with its image."""
        return self.train.batch(examples)

    def loss(self, batch: Batch, moment: Moment) -> Tensor:
        """The method's loss; encodings may be in half precision, scores and the loss are in float32."""
        images, sentences = self.module.encode_batch(batch)
        with torch.autocast(images[0].device.type, enabled=False):
            return self.module.loss(_float32(images), _float32(sentences), batch, moment)

    def validate(self) -> dict[str, float]:
        """R@K both ways and their Sum on the validation split, ranked as the test split is.

        For a method with attention over places and words, also its mean entropy.
        """
        attention = entropies(self.module, self.val) if self.module.can("saliency") else {}
        return {**validate(self.module, self.val), **attention}


def validate(method: Method, pairs: Pairs) -> dict[str, float]:
    """R@K both ways and their Sum of a method on a split."""
    rows = pairs.rows
    every_image, every_sentence = np.arange(len(rows.image_ids)), np.arange(len(rows.caption_ids))
    score = scorer(method, encode_images(method, pairs), encode_sentences(method, pairs))
    ranks = evaluate(score(every_image, every_sentence), torch.from_numpy(rows.image_of_caption), len(every_image))
    found = metrics(ranks)
    return {name: found[name] for name in MEASURES}


def _float32(encoding: Encoding) -> Encoding:
    return with_parts(encoding, map(in_float32, encoding))


def prepared(job: TrainingJob, inputs: Inputs, start: str | None = None) -> Retrieval:
    """The task of a job before its training, with the weights of the model `start` if there is one.

    Raises `InputError` if the method cannot be built, or the weights or the features do not fit.
    """
    method = build(job.method, job.parameters, inputs.shapes())
    val = inputs.pairs("val", method.regions_read, job.training.validation_images)
    pairs = inputs.pairs("train", method.regions_read, job.training.training_images)
    if start is not None:
        load_weights(method, job.method, start)
        logger.info("starting from the weights of %s", start)
    elif method.can("measure"):
        measure(method, pairs)
    return Retrieval(method, pairs, val)


def measure(method: Method, pairs: Pairs) -> None:
    """Lets a method measure its input's scale on some of the training images. Raises `InputError` if it cannot."""
    some = evenly_spaced(len(pairs.rows.image_ids), MEASURED_IMAGES)
    try:
        method.measure(pairs.images(some))
    except ValueError as error:
        raise InputError(f"{error}; look at the files of the data set's features") from error


def train(files: Files, job: TrainingJob, model: str | Path, history: str | Path, of: Identity | None = None) -> None:
    """Trains a method and writes its `model` and `history`, which are `of` a variant's round; see `drive`.

    It starts from the weights of the file `start`, if there is one: the model of the round before, or of another
    method.
    """

    def task_of(inputs: Inputs) -> Retrieval:
        return prepared(job, inputs, files.one(START) if START in files else None)

    # Features have their network's first weights in their lineage, and correspondences the model that made them.
    untraced = {NETWORK, START} if _CORRESPONDENCES in files else {NETWORK}
    subject = Subject(job, (job.method, f"round{job.round}"), files, untraced, of, starts_trained=START in files)
    drive(subject, partial(trainable_model, task_of, files, job), model, history)
