"""The training task of a generator, which learns sentences by their likelihood."""

import math
from functools import partial
from pathlib import Path

from torch import Tensor

from densevse.config.training import TrainingJob
from densevse.data.contents import ContentBatch, SentencesWithContent
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.inference.encoding import batches, evaluation
from densevse.inference.generators import build_generator, generator_shapes
from densevse.methods.generators.interface import Generator
from densevse.methods.interface import Moment, device_of, to_device
from densevse.runtime.arrays import Indices
from densevse.training.driver import Subject, drive
from densevse.training.models import trainable_model
from densevse.training.task import Task

_AT_ONCE = 128  # sentences in a batch of validation


class Writing(Task):
    """Trains a generator, and keeps the epoch with the lowest perplexity of val's sentences."""

    selects = "log_probability"

    def __init__(self, generator: Generator, train: SentencesWithContent, val: SentencesWithContent) -> None:
        self.module: Generator = generator
        self.parameters = generator.hyperparameters
        self.train, self.val = train, val
        self.examples = len(train)

    def batch(self, examples: Indices, epoch: int) -> ContentBatch:
        """The sentences of these numbers."""
        return self.train.batch(examples)

    def loss(self, batch: ContentBatch, moment: Moment) -> Tensor:
        """The mean negative log-likelihood of a word or an end."""
        total, count = self._total(batch)
        return total / count

    def validate(self) -> dict[str, float]:
        """The mean log probability of a word or an end of val's sentences, and the perplexity."""
        total, count = 0.0, 0
        with evaluation(self.module):
            for sentences in batches(len(self.val), _AT_ONCE):
                batch = to_device(self.val.batch(sentences), device_of(self.module))
                of_batch, predicted = self._total(batch)
                total, count = total + float(of_batch), count + predicted
        return {"log_probability": -total / count, "perplexity": math.exp(total / count)}

    def _total(self, batch: ContentBatch) -> tuple[Tensor, int]:
        """The negative log-likelihood of all sentences, and the number of their words and ends."""
        sentences = batch.sentences[self.module.structure]
        likelihoods = self.module.negative_log_likelihood(batch.content, sentences)
        return likelihoods.sum(), int((sentences.lengths_on_host() + 1).sum())


def train_generator(files: Files, job: TrainingJob, model: str | Path, history: str | Path) -> None:
    """Trains a generator and writes its `model` and `history`; see `drive`."""

    def task_of(inputs: Inputs) -> Writing:
        train_pairs = inputs.pairs("train", images=job.training.training_images)
        train = SentencesWithContent(inputs, train_pairs, "train")
        val_pairs = inputs.pairs("val", images=job.training.validation_images)
        val = SentencesWithContent(inputs, val_pairs, "val")
        return Writing(build_generator(job.method, job.parameters, generator_shapes(inputs, train.size)), train, val)

    drive(Subject(job, (job.method,), files), partial(trainable_model, task_of, files, job), model, history)
