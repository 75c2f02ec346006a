"""The training loop of all tasks: phases of epochs, with validation after each epoch, resumable at any step.

`drive` runs a training job with it: it seeds, resumes from a checkpoint, and writes weights and history.
"""

import inspect
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_

from densevse.artifacts.schemas.training import HISTORY
from densevse.config.training import NamedPhase, Recipe, TrainingConfig
from densevse.data.files import Files
from densevse.methods.interface import Moment, module_device
from densevse.methods.moving import Packed, to_device
from densevse.runtime import exact
from densevse.runtime.ahead import prefetch_results
from densevse.runtime.arrays import Indices
from densevse.runtime.numerics import (
    STOP_SIGNALS,
    TrainingPrecision,
    fastest_precision,
    gpu_computes_bf16,
    seed_everything,
    set_up,
)
from densevse.runtime.on_gpu import loader_threads, numbers_at_once
from densevse.runtime.project import NUMBERS_AT_ONCE
from densevse.training.checkpoints import Checkpoint, fingerprint
from densevse.training.task import Task
from densevse.training.watching import open_watchers
from snakeproof import schema
from snakeproof.errors import InputError
from snakeproof.logs import logger, progress
from snakeproof.schema import REAL, Column, Schema
from snakeproof.strict import Strict


class Interrupted(SystemExit):
    """Training was asked to stop and has saved a checkpoint. Ends the process with exit status 1 if not caught."""


@dataclass
class Progress:
    """The progress of a training, in plain numbers, as checkpoints store it."""

    epoch: int = 1  # the current one
    batch: int = 0  # the epoch's next batch
    step: int = 0
    loss: float = 0.0  # sum of the losses of the epoch's batches
    seconds: float = 0.0  # duration of the epoch so far
    resumed: int = 0
    best_epoch: int = 0
    best: float = -math.inf  # the largest value of the measure that selects
    history: list[dict[str, Any]] = field(default_factory=list)


@dataclass(frozen=True)
class Epoch:
    """An epoch of a recipe."""

    phase: NamedPhase
    parameters: Strict  # the task's parameters with the phase's changes
    before: int  # epochs of the phase before this one

    def learning_rate(self, part: float) -> float:
        """The learning rate at a point of the epoch, from 0 to 1."""
        begin, end = self.phase.learning_rate, self.phase.final_learning_rate
        if end is None:
            return begin
        over = (self.before + part) / self.phase.epochs
        return end + (begin - end) * (1 + math.cos(math.pi * over)) / 2


class Trainer:
    """Trains a task by a recipe; afterwards its module has the weights of the best epoch.

    With `starts_trained`, training starts from the weights of a trained model. They are validated first, as epoch 0,
    and kept if no epoch is better. A recipe without phases trains nothing: epoch 0 is the only one. `watch` is given
    each row of the history when it is there, and those before a resumption again.
    """

    def __init__(
        self,
        task: Task,
        recipe: Recipe,
        checkpoint: Checkpoint,
        starts_trained: bool = False,
        watch: Callable[[Mapping[str, Any]], None] = lambda row: None,
    ) -> None:
        self.task, self.recipe, self.checkpoint, self.starts_trained = task, recipe, checkpoint, starts_trained
        self.watch = watch
        self.epochs = [
            Epoch(phase, task.phase_parameters(phase.name, phase.parameters), number)
            for phase in recipe.phases
            for number in range(phase.epochs)
        ]
        self.warm_up = _warm_up_epochs(self.epochs)
        self.device = module_device(task.module)
        self.half = training_precision(recipe.training, self.device) == "bf16"
        self.weights = {name: weight for name, weight in task.module.named_parameters() if weight.requires_grad}
        self.frozen = {phase.name: _frozen_weights(phase, self.weights) for phase in recipe.phases}
        self.optimizer = _optimizer(list(self.weights.values()), recipe.training)
        decay = recipe.training.ema_decay
        self.average = None if decay is None else MovingAverage(task.module, decay)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}

    def run(self) -> list[dict[str, Any]]:
        """Trains to the end, from the checkpoint if there is one; returns the rows of a HISTORY artifact.

        Raises `Interrupted` after SIGTERM or SIGUSR1, and `InputError` if the loss is not a number.
        """
        self._resume()
        for row in self.progress.history:
            self.watch(row)
        self.task.module.train()
        with _stop_signals() as stop:
            if (self.starts_trained or not self.epochs) and not self.progress.history:
                self._validate_start()
            while self.progress.epoch <= len(self.epochs):
                self._run_epoch(stop)
                self._close_epoch()
                self._save()
                if stop.is_set():
                    self._interrupt()
        self.task.module.load_state_dict(self.best)
        return [{**row, "best": row["epoch"] == self.progress.best_epoch} for row in self.progress.history]

    def _run_epoch(self, stop: threading.Event) -> None:
        now, epoch, recipe = self.progress, self.epochs[self.progress.epoch - 1], self.recipe
        moment = Moment(now.epoch, epoch.phase.name, epoch.parameters)
        for name, weight in self.weights.items():
            weight.requires_grad_(name not in self.frozen[epoch.phase.name])
        batches = epoch_batches(self.task.examples, recipe.training.batch_size, recipe.seed, now.epoch, recipe.round)
        begun, left = time.monotonic(), batches[now.batch :]
        loss = torch.tensor(now.loss, dtype=torch.float64, device=self.device)
        made = load_batches(self.task, left, now.epoch, self.device, loader_threads(recipe.threads))
        for batch in progress(made, f"epoch {now.epoch} of {len(self.epochs)}", len(left), self.progress_line()):
            loss += self.step(batch, moment, epoch.learning_rate(now.batch / len(batches)))
            now.batch += 1
            now.step += 1
            due = now.step % recipe.training.checkpoint_steps == 0 and now.batch < len(batches)
            if due or stop.is_set():
                now.seconds, begun = now.seconds + time.monotonic() - begun, time.monotonic()
                now.loss = self._finite_loss(loss)
                self._save()
                if stop.is_set():
                    self._interrupt()
        now.loss = self._finite_loss(loss)
        now.seconds += time.monotonic() - begun

    def step(self, batch: Any, moment: Moment, learning_rate: float) -> Tensor:
        """Runs one optimiser step on a batch; returns the loss without making the host wait for it."""
        for group in self.optimizer.param_groups:
            group["lr"] = learning_rate
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.half):
            loss = self.task.loss(batch, moment)
        self.optimizer.zero_grad()
        loss.backward()
        if self.recipe.training.grad_clip is not None:
            at_once = self.device.type != "cpu"
            clip_grad_norm_(self.weights.values(), self.recipe.training.grad_clip, foreach=at_once)
        self.optimizer.step()
        if self.average:
            self.average.update()
        return loss.detach()

    def _validate_start(self) -> None:
        """Validates the first weights, as epoch 0."""
        begun = time.monotonic()
        learning_rate = self.epochs[0].learning_rate(0) if self.epochs else 0.0
        self._add_row(self._make_row(0, "", learning_rate, None, begun))

    def _close_epoch(self) -> None:
        """Validates, adds a row to the history, and keeps the weights if they are the best so far."""
        now, epoch, begun = self.progress, self.epochs[self.progress.epoch - 1], time.monotonic()
        self._add_row(self._make_row(now.epoch, epoch.phase.name, epoch.learning_rate(1), now.loss / now.batch, begun))
        now.epoch, now.batch, now.loss, now.seconds = self._next_epoch(), 0, 0.0, 0.0

    def _add_row(self, row: dict[str, Any]) -> None:
        self.progress.history.append(row)
        self.watch(row)

    def progress_line(self) -> str:
        """The last epoch's loss, its measure on val, and the time left, in a line; empty in the first epoch."""
        rows = [row for row in self.progress.history if row["epoch"]]
        if not rows:
            return ""
        last, selects = rows[-1], self.task.selects
        seconds = sum(row["seconds"] for row in rows) / len(rows) * (len(self.epochs) - last["epoch"])
        left = timedelta(seconds=round(seconds))
        return f"loss {last['loss']:.4f}, {selects} on val {last[selects]:.4g}, {left} left"

    def _next_epoch(self) -> int:
        """The next epoch; if the phase's patience is used up, the first epoch of the next phase."""
        number, patience = self.progress.epoch, self.recipe.training.patience
        epoch = self.epochs[number - 1]
        before = number - 1 - epoch.before  # epochs of the phases before
        waited = number - max(self.progress.best_epoch, self.warm_up, before)
        return number + 1 if patience is None or waited < patience else before + epoch.phase.epochs + 1

    def _make_row(
        self, number: int, phase: str, learning_rate: float, loss: float | None, begun: float
    ) -> dict[str, Any]:
        """Validates and returns a row of the history; keeps the weights if they are the best so far.

        If weights are averaged, the average is validated and kept; training continues from the last step's weights.
        """
        now, selects = self.progress, self.task.selects
        with self.average.replace_weights() if self.average else nullcontext():
            measures = self.task.validate()
            if measures[selects] > now.best and not 1 <= number <= self.warm_up:
                now.best_epoch, now.best = number, measures[selects]
                self.best = {key: value.detach().clone() for key, value in self.task.module.state_dict().items()}
        told = "before training" if loss is None else f"loss {loss:.4f}"
        logger.info("epoch %d %s: %s, %s on val %.4g", number, phase, told, selects, measures[selects])
        return {
            "epoch": number,
            "phase": phase,
            "step": now.step,
            "learning_rate": learning_rate,
            "loss": loss,
            "resumed": now.resumed,
            "seconds": now.seconds + time.monotonic() - begun,
            **measures,
        }

    def _finite_loss(self, loss: Tensor) -> float:
        if not torch.isfinite(loss):
            raise InputError(
                f"The loss is {loss.item()} in epoch {self.progress.epoch}: training diverged. Lower the phase's "
                "learning_rate or training.grad_clip of the method, or look for features that are not finite."
            )
        return loss.item()

    def _interrupt(self) -> None:
        raise Interrupted(
            f"Training was asked to stop and did so in epoch {self.progress.epoch} after step {self.progress.step}. "
            "Run the same command again to resume it."
        )

    def _save(self) -> None:
        random = {"cpu": torch.get_rng_state()}
        if self.device.type != "cpu":
            random[self.device.type] = torch.get_device_module(self.device).get_rng_state(self.device)
        self.checkpoint.save(
            {
                "module": self.task.module.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "best": self.best,
                "average": self.average.values if self.average else {},
                "random": random,
                "numbers_at_once": numbers_at_once(self.device, on_cpu=0),
                "progress": asdict(self.progress),
            }
        )

    def _resume(self) -> None:
        state = self.checkpoint.load()
        if state is None:
            return
        self.task.module.load_state_dict(state["module"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best = to_device(state["best"], self.device)
        if self.average:
            self.average.values = to_device(state["average"], self.device)
        torch.set_rng_state(state["random"]["cpu"])
        if self.device.type != "cpu":
            torch.get_device_module(self.device).set_rng_state(state["random"][self.device.type], self.device)
            # On another card sums would be in other parts, and their last digits differ.
            os.environ[NUMBERS_AT_ONCE] = str(state["numbers_at_once"])
        self.progress = Progress(**state["progress"])
        self.progress.resumed += 1
        logger.info("resumed in epoch %d after step %d", self.progress.epoch, self.progress.step)


def write_history(rows: list[dict[str, Any]], path: str | Path, **found: Any) -> None:
    """Writes a history: its columns, and one more for each of the task's measures."""
    known = {column.name for column in HISTORY.columns}
    schema.write(rows, history_schema([name for name in rows[0] if name not in known]), path, **found)


def history_schema(measures: Sequence[str]) -> Schema:
    """The schema of the history of a task with these measures."""
    columns = [Column(name, REAL, f"the measure {name} on the validation set") for name in measures]
    return replace(HISTORY, columns=(*HISTORY.columns, *columns))


def _warm_up_epochs(epochs: Sequence[Epoch]) -> int:
    """The number of epochs up to the last one whose parameters differ from those of the final epoch."""
    others = (number for number, epoch in enumerate(epochs, 1) if epoch.parameters != epochs[-1].parameters)
    return max(others, default=0)


def _frozen_weights(phase: NamedPhase, weights: Iterable[str]) -> set[str]:
    """The weights that a phase freezes. Raises `InputError` that names a module without trained weights."""
    of_module = {module: {name for name in weights if name.startswith(f"{module}.")} for module in phase.frozen}
    for module, names in of_module.items():
        if not names:
            known = ", ".join(sorted({weight.split(".")[0] for weight in weights if "." in weight}))
            raise InputError(
                f"phases.{phase.name}.frozen: {module!r} is no module with weights that are trained; known: {known}"
            )
    return set().union(*of_module.values())


def training_precision(settings: TrainingConfig, device: torch.device) -> TrainingPrecision:
    """The precision of a training on a device: the configured one, but float32 on a GPU that does not compute in it.

    Raises `InputError` for bf16 on a CPU that is not faster in it, or in an exact job.
    """
    if device.type == "cpu":
        if settings.cpu_precision == "bf16" and exact.has_begun():
            raise InputError("training.cpu_precision: bf16 is not exact; remove the key, or leave `exact` out.")
        if settings.cpu_precision == "bf16" and fastest_precision() != "bf16":
            raise InputError(
                "training.cpu_precision: bf16 is not faster than float32 on this processor, which has no matrix units "
                "or vector units for it that are allowed; remove the key, or train on another machine."
            )
        return settings.cpu_precision
    return "float32" if device.type == "cuda" and not gpu_computes_bf16() else settings.precision


def _optimizer(weights: list[torch.nn.Parameter], settings: TrainingConfig) -> torch.optim.Optimizer:
    rate, decay = 0.0, settings.weight_decay  # each step sets its learning rate
    if settings.optimizer == "sgd":
        optimizer = _unwrap_optimizer(torch.optim.SGD)(weights, rate, settings.momentum, weight_decay=decay, fused=True)
        if settings.momentum:
            # The fused step stops if only some weights have momentum, as after a phase that freezes others.
            for weight in weights:
                optimizer.state[weight]["momentum_buffer"] = torch.zeros_like(weight)
        return optimizer
    kind = _unwrap_optimizer(torch.optim.AdamW if settings.optimizer == "adamw" else torch.optim.Adam)
    return kind(weights, rate, weight_decay=decay, fused=True)


def _unwrap_optimizer(kind: type[torch.optim.Optimizer]) -> Callable[..., torch.optim.Optimizer]:
    """The same kind of optimiser without the wrappers that torch adds for torch.compile.

    Nothing here is compiled, and the wrappers would load the compiler, which takes seconds in every process.
    """
    names = ("add_param_group", "zero_grad", "state_dict", "load_state_dict", "step")
    methods = {name: inspect.unwrap(getattr(kind, name)) for name in names}
    methods["step"] = torch.no_grad()(methods["step"])  # the wrapper's other effect
    return type(kind.__name__, (kind,), methods)


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """While the context lasts, SIGTERM and SIGUSR1 (a cluster's warning) set the event and do not end the process."""
    stop = threading.Event()

    def ask(number: int, _: Any) -> None:
        logger.info("got %s: saving at the next step", signal.Signals(number).name)
        stop.set()

    before = {number: signal.signal(number, ask) for number in STOP_SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class MovingAverage:
    """The exponential moving average of a module's weights and buffers over steps (Polyak and Juditsky 1992).

    At every step the average keeps the share `decay`, so that it covers about the last 1 / (1 - decay) steps.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        # The module's own tensors, so that writing to them in place changes its weights.
        self.weights = {name: weight for name, weight in module.state_dict().items() if weight.is_floating_point()}
        self.values = _copy_tensors(self.weights)

    def update(self) -> None:
        """Updates the average with the weights after a step."""
        for name, weight in self.weights.items():
            self.values[name].lerp_(weight, 1 - self.decay)

    @contextmanager
    def replace_weights(self) -> Iterator[None]:
        """Puts the average in place of the module's weights while the context lasts."""
        kept = _copy_tensors(self.weights)
        _write(self.values, self.weights)
        try:
            yield
        finally:
            _write(kept, self.weights)


def _copy_tensors(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _write(values: dict[str, Tensor], tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        tensor.copy_(values[name])


def load_batches(
    task: Task, batches: Iterable[Indices], epoch: int, device: torch.device, threads: int = 1
) -> Iterator[Any]:
    """Yields the task's batches on `device`, in order.

    For a GPU, threads make them ahead and pack them in pinned memory, so that one copy moves a batch and nothing waits
    for it. On a CPU they are made on demand, as threads would slow down those that compute.
    """
    if device.type == "cpu":
        for examples in batches:
            yield task.batch(examples, epoch)
        return
    with ThreadPoolExecutor(threads) as pool:

        def make_batch(examples: Indices) -> Packed:
            return Packed(task.batch(examples, epoch), pin=device.type == "cuda")

        for batch in prefetch_results(pool, make_batch, batches, depth=1 + threads):
            yield batch.to(device)


def epoch_batches(examples: int, size: int, seed: int, epoch: int, round_number: int = 0) -> list[Indices]:
    """All examples in random order, in batches of at most `size`.

    Batches have nearly equal sizes, as batch normalisation has poor statistics in a small last batch.
    """
    order = np.random.default_rng((seed, epoch, round_number)).permutation(examples)
    return [np.asarray(part) for part in np.array_split(order, -(-examples // size))]


@dataclass(frozen=True)
class TrainingSpec:
    """The settings and files that decide what a job trains."""

    job: Recipe
    names: tuple[str, ...]  # part of the seed, so that two trainings with one seed differ
    inputs: Files
    starts_trained: bool = False  # starts from a trained model's weights, which are kept if no epoch is better


def drive(spec: TrainingSpec, make: Callable[[], Task], weights: str | Path, history: str | Path) -> None:
    """Trains the task that `make` yields, and writes its `weights` and `history`.

    An interrupted job saves a checkpoint beside the weights. It continues from there when it runs again with the same
    settings, inputs and code. Raises `Interrupted` and `InputError` as `Trainer.run` does.
    """
    job = spec.job
    device = set_up(job.threads, job.training.precision)
    precision = training_precision(job.training, device)
    if device.type == "cuda" and precision != job.training.precision:
        logger.warning("precision: this GPU does not compute in %s; training in float32", job.training.precision)
    # Only the values that the rule sets: a new setting with a default that no code reads yet changes no training.
    given = {**job.model_dump(mode="json", exclude_unset=True), "device": device.type}
    checkpoint = Checkpoint(weights, fingerprint(given, spec.inputs.paths()))
    seed_everything(job.seed, *spec.names)
    task = make()
    task.to(device)
    with open_watchers(weights) as watch:
        rows = Trainer(task, job, checkpoint, spec.starts_trained, watch).run()
    found = {"round": job.round, "device": device.type, "computed_in": precision}
    write_history(rows, history, **found)
    task.save(Path(weights), **found)
    checkpoint.remove()
