"""Steps of training at the papers' sizes: their time, what the card does in them, and the memory that they need.

Methods, batches and vectors have the sizes of the settings for Flickr30k; values and sentences are random.
"""

import gc
import tempfile
import time
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

import torch

from densevse.config.load import load, variant
from densevse.config.methods import MethodConfig
from densevse.config.training import TrainingJob
from densevse.methods.interface import Batch, Moment
from densevse.report.rendering import Document, Sheet, TableColumn
from densevse.runtime.numerics import TrainingPrecision, set_up
from densevse.training.loop import Trainer, epoch_batches, load_batches
from snakeproof.files import write_text
from tests.device.papers import VALIDATED, Sizes, write_inputs, write_word_vectors
from tests.device.trainers import trainer_on
from tools.environments import ROOT
from tools.gpu_check.profiling import StepWork, profile_steps

DATASET, SENTENCES = "flickr30k", 145_000  # sentences that are trained on
METHODS = ("vse", "hm_lstm", "sm_lstm", "defrag", "sco", "scan")
KINDS: tuple[tuple[str, TrainingPrecision], ...] = (
    *((method, "float32") for method in METHODS),
    *((method, "tf32") for method in ("sm_lstm", "sco", "scan")),  # the others' products are too small to matter
)
THREADS = 4  # that prepare batches

STEP_NOTES = [
    "Steps have the settings for Flickr30k, random vectors of its sizes (4,096 values of an image or of each of 20 "
    "regions, 512 of each of 196 cells) and random sentences of 8 to 16 of 8,000 words, with nested trees of 11 levels "
    "and 48 relations, of which 19 are frequent. A step includes the gradient and the optimiser; its time is the "
    "median.",
    "With the loader, a step also waits for its batch. Ready batches are on the card before. Busy is the time in "
    "kernels. A pageable copy is one to the card from memory that is not pinned; a wait is the host's for the card. "
    "Memory is the most that tensors take at a time, with the features of some thousand images.",
    f"An epoch has {SENTENCES:,} sentences; validation is not in it.",
]
COLUMNS = ("Method", "Precision", "Batch", "with loader, ms", "ready, ms", "busy, ms", "kernels", "pageable copies")
COLUMNS += ("waits", "CPU of a batch, ms", "memory, GB", "epoch, min")


@dataclass(frozen=True)
class StepPlan:
    """What is timed: so many steps of each method, on data of these sizes."""

    sizes: Sizes = field(default_factory=Sizes)
    methods: Collection[str] = METHODS
    batch: int | None = None  # sentences; None: as the method's settings say
    warm_up: int = 5
    steps: int = 30  # that are counted
    profiled: int = 3

    @classmethod
    def rehearsal(cls, methods: Collection[str], size: int) -> "StepPlan":
        """A step on batches of so many sentences and vectors of so many values."""
        sizes = Sizes(VALIDATED + size, words=50, regions=3, cells=2, concepts=3, vector=size, cell=size)
        return cls(sizes, methods, size, warm_up=1, steps=1, profiled=1)


@dataclass(frozen=True)
class Step:
    """A step of a method's training; times are in ms."""

    method: str
    precision: TrainingPrecision
    batch: int  # sentences
    with_loader: float
    ready: float
    work: StepWork
    batch_cpu: float
    memory: int  # bytes of the card at most; 0 on a CPU

    def cells(self) -> list[str]:
        """Its row of the table."""
        work, epoch = self.work, self.with_loader * -(-SENTENCES // self.batch) / 60_000
        times = [f"{value:.1f}" for value in (self.with_loader, self.ready, work.busy)]
        counts = [f"{value:.0f}" for value in (work.kernels, work.pageable, work.waits)]
        others = [f"{self.batch_cpu:.1f}", f"{self.memory / 1e9:.1f}", f"{epoch:.1f}"]
        return [self.method, self.precision, str(self.batch), *times, *counts, *others]


def print_steps(device: str, plan: StepPlan, page: Path) -> list[Step]:
    """Times the steps; prints each row, and writes the page with the rows so far."""
    print("\t".join(COLUMNS), flush=True)
    steps: list[Step] = []
    with tempfile.TemporaryDirectory() as folder:
        for step in measure_steps(Path(folder), plan):
            print("\t".join(step.cells()), flush=True)
            steps.append(step)
            write_text(Document(f"Training steps: {device}", [step_sheet(steps)], STEP_NOTES).markdown(), page)
    return steps


def measure_steps(folder: Path, plan: StepPlan) -> Iterator[Step]:
    """Yields the step of each planned method in its precisions (`KINDS`); `folder` is empty, for random data."""
    write_inputs(folder, plan.sizes)
    config = load(ROOT / "config", {})
    for method, precision in (kind for kind in KINDS if kind[0] in plan.methods):
        entry = variant(config, DATASET, method)
        if entry.word_vectors:
            length = entry.parameters.model_dump()["word_dimension"]
            write_word_vectors(folder / "vectors.parquet", plan.sizes.known, length)
        yield measure_step(folder, method, entry, precision, plan)
        gc.collect()


def measure_step(folder: Path, method: str, entry: MethodConfig, precision: TrainingPrecision, plan: StepPlan) -> Step:
    """The step of a method in a precision. Batches are made twice, so that the first time reads cold files."""
    device = set_up(1, precision)
    job = _job(entry, precision, plan.batch)
    trainer = trainer_on(device, folder, entry, job)
    untrained = {name: value.clone() for name, value in trainer.task.module.state_dict().items()}
    size, timed = job.training.batch_size, plan.warm_up + plan.steps
    chosen = epoch_batches(trainer.task.examples, size, 0, 1)[: timed + plan.profiled]
    made = partial(load_batches, trainer.task, epoch=1, device=device, threads=THREADS)
    batches = list(made(chosen))
    ready = median(_times(trainer, batches[:timed])[plan.warm_up - 1 :])
    work = profile_steps(partial(_step, trainer), batches[timed:], device)
    batches.clear()
    begun = time.process_time()
    made_again = sum(1 for _ in made(chosen))
    batch_cpu = (time.process_time() - begun) * 1000 / made_again
    trainer.task.module.load_state_dict(untrained)
    trainer = Trainer(trainer.task, job, trainer.checkpoint)
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    with_loader = median(_times(trainer, made(chosen[:timed]))[plan.warm_up - 1 :])
    memory = torch.cuda.max_memory_allocated() if device.type == "cuda" else 0
    return Step(method, precision, size, with_loader, ready, work, batch_cpu, memory)


def _job(entry: MethodConfig, precision: TrainingPrecision, batch: int | None) -> TrainingJob:
    settings = {"precision": precision} | ({} if batch is None else {"batch_size": batch})
    return TrainingJob(
        method=entry.model,
        parameters=entry.parameters.model_dump(),
        sentences=entry.sentences,
        training=entry.training.model_dump() | settings,
        phases=entry.round_phases(0),
        seed=0,
        threads=THREADS,
    )


def _times(trainer: Trainer, batches: Iterable[Batch]) -> list[float]:
    """The times between the ends of two steps."""
    clock = Clock(trainer.device)
    for batch in batches:
        _step(trainer, batch)
        clock.mark()
    return clock.intervals()


class Clock:
    """Times in ms between the moments that a device reached; the host of a card does not wait for it."""

    def __init__(self, device: torch.device) -> None:
        self._on_card = device.type == "cuda"
        self._marks: list[Any] = []

    def mark(self) -> None:
        """Marks what was asked of the device so far."""
        if not self._on_card:
            self._marks.append(time.perf_counter() * 1000)
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self._marks.append(event)

    def intervals(self) -> list[float]:
        """The times between the marks."""
        if not self._on_card:
            return [after - before for before, after in pairwise(self._marks)]
        torch.cuda.synchronize()
        return [before.elapsed_time(after) for before, after in pairwise(self._marks)]


def _step(trainer: Trainer, batch: Batch) -> None:
    first = trainer.epochs[0]
    trainer.step(batch, Moment(1, first.phase.name, first.parameters), first.learning_rate(0))


def step_sheet(steps: list[Step]) -> Sheet:
    """The steps as a table, a row for each method and precision."""
    columns = tuple(TableColumn(name, number=name not in COLUMNS[:2]) for name in COLUMNS)
    return Sheet("Training steps at the papers' sizes", columns, [step.cells() for step in steps])
