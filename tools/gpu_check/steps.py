"""Steps of training at the papers' sizes: how long they take on the card in each precision, and the memory they need.

Methods, batches and vectors have the sizes of the settings for Flickr30k. Values and sentences are random: hardly two
sentences begin alike, which would save time.
"""

import gc
import itertools
import tempfile
import time
from collections.abc import Generator, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import get_args

import torch

from densevse.config.load import load, variant
from densevse.config.methods import MethodConfig
from densevse.config.training import TrainingJob
from densevse.methods.interface import Batch, Moment
from densevse.report.rendering import Sheet, TableColumn
from densevse.runtime.numerics import TrainingPrecision, set_up
from densevse.training.loop import Trainer, epoch_batches, loaded
from tests.device.miniature import FurtherSizes, write_everything, write_word_vectors
from tests.device.trainers import trainer_on
from tests.miniature import Sizes
from tools.environments import ROOT

DATASET, SENTENCES = "flickr30k", 145_000  # sentences that are trained on
METHODS = ("vse", "hm_lstm", "sm_lstm", "defrag", "sco")
PRECISIONS: tuple[TrainingPrecision, ...] = get_args(TrainingPrecision)
THREADS = 4  # that prepare batches
WARM_UP, MOST, LONGEST = 3, 40, 6.0
"""Steps that are not counted; counted steps, at most so many, or as many as begin within so many seconds."""

STEP_NOTES = [
    "Steps have the settings for Flickr30k, random vectors of its sizes (20 regions, or 196 cells, for each image) and "
    "random sentences of 8 to 16 of 8,000 words, whose trees are flat. A step includes reading its batch, the gradient "
    "and Adam. Memory is the most that tensors take at a time.",
    f"An epoch has {SENTENCES:,} sentences; validation is not in it. Hours are those of the first round's epochs.",
]

FLICKR30K = Sizes(
    splits={"train": 256, "val": 4, "test": 4},
    known=(*(f"w{number}" for number in range(8_000)), "."),
    words=(8, 16),
    captions=(5,),
    regions=(20,),
    vector=4096,
)
FURTHER = FurtherSizes(grid=(196, 512), concepts=256, word_vector=300)


@dataclass(frozen=True)
class Step:
    """A step of a method's training."""

    method: str
    precision: TrainingPrecision
    batch: int  # sentences
    epochs: int  # of the first round
    seconds: float  # mean
    memory: int  # bytes of the card at most; 0 on a CPU

    @property
    def epoch(self) -> float:
        """Seconds of an epoch of Flickr30k, without validation."""
        return self.seconds * -(-SENTENCES // self.batch)


def measure_steps() -> list[Step]:
    """The steps at the papers' sizes."""
    with tempfile.TemporaryDirectory() as folder:
        return list(steps_at_full_size(Path(folder)))


def steps_at_full_size(folder: Path, sizes: Sizes = FLICKR30K, further: FurtherSizes = FURTHER) -> Iterator[Step]:
    """Yields the step of each method in each precision; `folder` is empty, for random data."""
    write_everything(folder, sizes, further)
    config = load(ROOT / "config", {})
    for method in METHODS:
        entry = variant(config, DATASET, method)
        if entry.word_vectors:
            write_word_vectors(folder, sizes, entry.parameters.model_dump()["word_dimension"])
        for precision in PRECISIONS:
            yield measured(folder, method, entry, precision)
            gc.collect()


def measured(folder: Path, name: str, entry: MethodConfig, precision: TrainingPrecision) -> Step:
    """The mean of some steps, with the making of batches and their copies to the card."""
    device = set_up(1, precision)
    trainer = _trainer(folder, entry, precision, device)
    synchronize = torch.get_device_module(device).synchronize
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with closing(_batches(trainer)) as batches:
        for _ in range(WARM_UP):
            _step(trainer, next(batches))
        synchronize()
        begun, done = time.monotonic(), 0
        while done < MOST and time.monotonic() - begun < LONGEST:
            _step(trainer, next(batches))
            done += 1
            if done % 5 == 0:
                synchronize()  # the host runs ahead of the card
        synchronize()
        seconds = (time.monotonic() - begun) / done
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
    epochs = sum(phase.epochs for phase in entry.phases_of(0))
    return Step(name, precision, entry.training.batch_size, epochs, seconds, memory)


def _trainer(folder: Path, entry: MethodConfig, precision: TrainingPrecision, device: torch.device) -> Trainer:
    job = TrainingJob(
        method=entry.model,
        parameters=entry.parameters.model_dump(),
        sentences=entry.sentences,
        training=entry.training.model_dump() | {"precision": precision},
        phases=entry.phases_of(0),
        seed=0,
        threads=THREADS,
    )
    return trainer_on(device, folder, entry, job)


def _batches(trainer: Trainer) -> Generator[Batch, None, None]:
    task, size = trainer.task, trainer.recipe.training.batch_size
    for epoch in itertools.count(1):
        yield from loaded(task, epoch_batches(task.examples, size, 0, epoch), epoch, trainer.device, THREADS)


def _step(trainer: Trainer, batch: Batch) -> None:
    first = trainer.epochs[0]
    trainer.step(batch, Moment(1, first.phase.name, first.parameters), first.learning_rate(0))


def step_sheet(steps: list[Step]) -> Sheet:
    """The steps as a table: a row for each method, and columns for each precision."""
    kinds = dict.fromkeys(step.precision for step in steps)
    numbers = ["Batch", *(f"{kind}, ms" for kind in kinds), *(f"{kind}, GB" for kind in kinds)]
    numbers += [f"An epoch of Flickr30k in {next(iter(kinds))}, min", "epochs", "hours"]
    rows = [
        _row([step for step in steps if step.method == method]) for method in dict.fromkeys(s.method for s in steps)
    ]
    columns = [TableColumn("Method", number=False), *(TableColumn(name, number=True) for name in numbers)]
    return Sheet("Training steps at the papers' sizes", tuple(columns), rows)


def _row(steps: list[Step]) -> list[str]:
    first = steps[0]
    times = [f"{step.seconds * 1000:.0f}" for step in steps]
    memory = [f"{step.memory / 1e9:.1f}" for step in steps]
    whole = [f"{first.epoch / 60:.1f}", str(first.epochs), f"{first.epoch * first.epochs / 3600:.1f}"]
    return [first.method, str(first.batch), *times, *memory, *whole]
