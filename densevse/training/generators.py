"""The task of a generator, trained on sentences by their likelihood, and a training job from artifacts to a model."""

import math
from pathlib import Path

from torch import Tensor

from densevse.artifacts.lineage import lineage
from densevse.batches.contents import ContentBatch, SentencesWithContent
from densevse.batches.files import Files
from densevse.batches.inputs import Inputs
from densevse.batches.ragged import Indices
from densevse.inference.encoding import batches, evaluation
from densevse.inference.generators import build_generator, generator_shapes
from densevse.inference.models import save_model
from densevse.methods.generators.interface import Generator
from densevse.methods.interface import Moment, to_device
from densevse.numerics import seed_everything, set_up
from densevse.settings.training import TrainingJob
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.loop import Plan, Trainer, write_history
from densevse.training.task import Task

AT_ONCE = 128  # sentences that are validated together


class Writing(Task):
    """Trains a generator; the epoch with the lowest perplexity of val's sentences is kept."""

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
        """The mean log probability of a word or an end of val's sentences, and the perplexity that it makes."""
        total, count = 0.0, 0
        with evaluation(self.module):
            for sentences in batches(len(self.val), AT_ONCE):
                batch = to_device(self.val.batch(sentences), next(self.module.parameters()).device)
                of_batch, predicted = self._total(batch)
                total, count = total + float(of_batch), count + predicted
        return {"log_probability": -total / count, "perplexity": math.exp(total / count)}

    def _total(self, batch: ContentBatch) -> tuple[Tensor, int]:
        """The negative log-likelihood of all sentences, and how many words and ends they have."""
        sentences = batch.sentences[self.module.structure]
        likelihoods = self.module.negative_log_likelihood(batch.content, sentences)
        return likelihoods.sum(), int((sentences.lengths + 1).sum())


def train_generator(files: Files, job: TrainingJob, model: str | Path, history: str | Path) -> None:
    """Train a generator and write its `model` and `history`.

    Interrupted, it saves a checkpoint beside the model and goes on from there when it is run again with the same
    settings, inputs and code.
    """
    device = set_up(job.threads)
    settings = {**job.model_dump(mode="json"), "device": device.type}
    # Only what the rule gives: a setting that is new, and whose default nothing reads yet, makes no other training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(model, fingerprint(given, files.paths()))
    inputs = Inputs(files, job.sentences)
    seed_everything(job.seed, job.method)
    train = SentencesWithContent(inputs, inputs.pairs("train"), "train")
    val_pairs = inputs.pairs("val", images=job.training.validation_images)
    val = SentencesWithContent(inputs, val_pairs, "val")
    generator = build_generator(job.method, job.parameters, generator_shapes(inputs, train.size)).to(device)
    rows = Trainer(Writing(generator, train, val), Plan(job.training, job.phases, job.seed), checkpoint).run()
    made_from = lineage(settings, files.named())
    write_history(rows, history, made_from)
    read = {"features": inputs.features_made_from(), "fingerprint": checkpoint.fingerprint}
    save_model(generator, job.method, job.sentences, model, {**made_from, **read})
    checkpoint.remove()
