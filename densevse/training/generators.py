"""The training task of a generator, which learns sentences by their likelihood."""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from torch import Tensor

from densevse.config.training import TrainingJob
from densevse.data.contents import ContentBatch, SentencesWithContent
from densevse.data.files import Files
from densevse.data.inputs import Inputs
from densevse.methods.generators.interface import Generator
from densevse.methods.interface import Moment, module_device
from densevse.methods.moving import to_device
from densevse.models.encoding import batches, evaluation
from densevse.models.files import build_generator, generator_shapes, save_model
from densevse.runtime.arrays import Indices
from densevse.training.loop import TrainingSpec, drive
from densevse.training.task import Task
from snakeproof.strict import validate

_AT_ONCE = 128  # sentences in a batch of validation


class Writing(Task):
    """Trains a generator, and keeps the epoch with the lowest perplexity of val's sentences."""

    selects = "log_probability"

    def __init__(self, job: TrainingJob, inputs: Inputs) -> None:
        """Builds the generator for the artifacts. Raises `InputError` if it cannot."""
        train_pairs = inputs.pairs("train", images=job.training.training_images)
        train = SentencesWithContent(inputs, train_pairs, "train")
        val_pairs = inputs.pairs("val", images=job.training.validation_images)
        val = SentencesWithContent(inputs, val_pairs, "val")
        generator = build_generator(job.method, job.parameters, generator_shapes(inputs, train.size))
        self.module: Generator = generator
        self.job, self.inputs = job, inputs
        self.parameters = generator.hyperparameters
        self.train, self.val = train, val
        self.examples = len(train)

    def batch(self, examples: Indices, epoch: int) -> ContentBatch:
        """The sentences of these numbers."""
        return self.train.batch(examples)

    def loss(self, batch: ContentBatch, moment: Moment) -> Tensor:
        """The mean negative log-likelihood of a word or an end."""
        total, count = self._total_loss(batch)
        return total / count

    def validate(self) -> dict[str, float]:
        """The mean log probability of a word or an end of val's sentences, and the perplexity."""
        total, count = 0.0, 0
        with evaluation(self.module):
            for sentences in batches(len(self.val), _AT_ONCE):
                batch = to_device(self.val.batch(sentences), module_device(self.module))
                of_batch, predicted = self._total_loss(batch)
                total, count = total + float(of_batch), count + predicted
        return {"log_probability": -total / count, "perplexity": math.exp(total / count)}

    def save(self, path: Path, **found: Any) -> None:
        """Writes the generator with how it sees images."""
        features = self.inputs.feature_settings()
        save_model(self.module, self.job.method, self.job.sentences, path, **found, features=features)

    def _total_loss(self, batch: ContentBatch) -> tuple[Tensor, int]:
        """The negative log-likelihood of all sentences, and the number of their words and ends."""
        sentences = batch.sentences[self.module.structure]
        likelihoods = self.module.negative_log_likelihood(batch.content, sentences)
        return likelihoods.sum(), int((sentences.lengths_on_host() + 1).sum())


def train_generator(job: Mapping[str, Any], code: str, model: str, history: str, **files: str | list[str]) -> None:
    """The job that trains a generator and writes its `model` and `history`; see `drive`.

    `job` has the settings of `TrainingJob`, and `files` are its inputs.
    """
    settings, inputs = validate(TrainingJob, {**job, "code": code}, "training"), Files(files)
    spec = TrainingSpec(settings, (settings.method,), inputs)
    drive(spec, lambda: Writing(settings, Inputs(inputs, settings.sentences)), model, history)
