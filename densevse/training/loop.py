"""The training loop of every method: Adam or SGD on batches of pairs, validated each epoch, resumable at any step."""

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils import clip_grad_norm_

from densevse.artifacts.schemas.training import HISTORY
from densevse.errors import InputError
from densevse.evaluation.ranks import evaluate, figures
from densevse.logs import logger, progress
from densevse.methods.interface import Method, to_device
from densevse.settings.model import Training
from densevse.training.checkpoints import Checkpoint
from densevse.training.data import Pairs
from densevse.training.encode import encode_images, encode_sentences, scorer
from densevse.training.sampler import epoch_batches

VALIDATED = [column.name for column in HISTORY.columns if column.name.startswith(("annotation_", "search_", "sum"))]


class Interrupted(SystemExit):
    """Training was asked to stop, and has saved a checkpoint. Ends the process with exit status 1 if not caught."""


@dataclass
class Progress:
    """How far a training has come. Plain numbers, as they are saved in checkpoints."""

    epoch: int = 1  # that is under way
    batch: int = 0  # the epoch's next batch
    step: int = 0
    loss: float = 0.0  # sum over the epoch's batches
    seconds: float = 0.0  # spent on the epoch
    resumed: int = 0
    best_epoch: int = 0
    best_sum: float = -1.0
    history: list[dict[str, Any]] = field(default_factory=list)


class Trainer:
    """Trains `method` on the pairs of `train`; afterwards it has the weights of its best epoch on `val`."""

    def __init__(
        self, method: Method, settings: Training, train: Pairs, val: Pairs, seed: int, checkpoint: Checkpoint
    ) -> None:
        self.method, self.settings, self.train, self.val, self.seed = method, settings, train, val, seed
        self.checkpoint = checkpoint
        self.device = next(method.parameters()).device
        self.weights = [weight for weight in method.parameters() if weight.requires_grad]
        self.optimizer = _optimizer(self.weights, settings)
        self.progress = Progress()
        self.best: dict[str, Tensor] = {}

    def run(self) -> list[dict[str, Any]]:
        """Train to the end, from the checkpoint if there is one; returns the rows of a HISTORY artifact.

        Raises `Interrupted` after SIGTERM or SIGUSR1, and `InputError` if the loss is not a number.
        """
        self._resume()
        self.method.train()
        with _stop_signals() as stop:
            while not self._finished():
                self._run_epoch(stop)
                self._close_epoch()
                self._save()
                if stop.is_set():
                    self._interrupt()
        self.method.load_state_dict(self.best)
        return [{**row, "best": row["epoch"] == self.progress.best_epoch} for row in self.progress.history]

    def _finished(self) -> bool:
        epoch, patience = self.progress.epoch, self.settings.patience
        waited = patience is not None and epoch > 1 and epoch - 1 - self.progress.best_epoch >= patience
        return epoch > self.settings.epochs or waited

    def _run_epoch(self, stop: threading.Event) -> None:
        now = self.progress
        for group in self.optimizer.param_groups:
            group["lr"] = self._learning_rate()
        batches = epoch_batches(len(self.train.rows.caption_ids), self.settings.batch_size, self.seed, now.epoch)
        begun = time.monotonic()
        loss = torch.tensor(now.loss, dtype=torch.float64, device=self.device)
        for sentences in progress(batches[now.batch :], f"epoch {now.epoch}", len(batches) - now.batch):
            loss += self._step(sentences)
            now.batch += 1
            now.step += 1
            due = now.step % self.settings.checkpoint_steps == 0 and now.batch < len(batches)
            if due or stop.is_set():
                now.seconds, begun = now.seconds + time.monotonic() - begun, time.monotonic()
                now.loss = self._finite(loss)
                self._save()
                if stop.is_set():
                    self._interrupt()
        now.loss = self._finite(loss)
        now.seconds += time.monotonic() - begun

    def _step(self, sentences: Any) -> Tensor:
        batch = to_device(self.train.batch(sentences), self.device)
        half = self.settings.half_precision and self.device.type == "cuda"
        with torch.autocast(self.device.type, torch.bfloat16, enabled=half):
            loss = self.method.loss(batch)
        self.optimizer.zero_grad()
        loss.backward()
        if self.settings.clip is not None:
            clip_grad_norm_(self.weights, self.settings.clip)
        self.optimizer.step()
        return loss.detach()

    def _close_epoch(self) -> None:
        """Validate, add a row to the history, and keep the weights if they are the best so far."""
        now, begun = self.progress, time.monotonic()
        found = validate(self.method, self.val)
        if found["sum"] > now.best_sum:
            now.best_epoch, now.best_sum = now.epoch, found["sum"]
            self.best = {key: value.detach().clone() for key, value in self.method.state_dict().items()}
        row = {
            "epoch": now.epoch,
            "step": now.step,
            "learning_rate": self._learning_rate(),
            "loss": now.loss / now.batch,
            **{name: found[name] for name in VALIDATED},
            "resumed": now.resumed,
            "seconds": now.seconds + time.monotonic() - begun,
        }
        logger.info("epoch %d: loss %.4f, Sum on val %.1f", now.epoch, row["loss"], row["sum"])
        now.history.append(row)
        now.epoch, now.batch, now.loss, now.seconds = now.epoch + 1, 0, 0.0, 0.0

    def _learning_rate(self) -> float:
        passed = sum(epoch < self.progress.epoch for epoch in self.settings.decay_epochs)
        return self.settings.learning_rate * self.settings.decay**passed

    def _finite(self, loss: Tensor) -> float:
        if not torch.isfinite(loss):
            raise InputError(
                f"The loss is {loss.item()} in epoch {self.progress.epoch}: training diverged. Lower "
                "training.learning_rate or training.clip of the method, or look for features that are not finite."
            )
        return loss.item()

    def _interrupt(self) -> None:
        raise Interrupted(
            f"Training was asked to stop and did so in epoch {self.progress.epoch} after step {self.progress.step}. "
            "Run the same command again to resume it."
        )

    def _save(self) -> None:
        random = {"cpu": torch.get_rng_state()}
        if self.device.type == "cuda":
            random["cuda"] = torch.cuda.get_rng_state(self.device)
        self.checkpoint.save(
            {
                "method": self.method.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "best": self.best,
                "random": random,
                "progress": asdict(self.progress),
            }
        )

    def _resume(self) -> None:
        state = self.checkpoint.load()
        if state is None:
            return
        self.method.load_state_dict(state["method"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.best = to_device(state["best"], self.device)
        torch.set_rng_state(state["random"]["cpu"])
        if self.device.type == "cuda" and "cuda" in state["random"]:
            torch.cuda.set_rng_state(state["random"]["cuda"], self.device)
        self.progress = Progress(**state["progress"])
        self.progress.resumed += 1
        logger.info("resumed in epoch %d after step %d", self.progress.epoch, self.progress.step)


def validate(method: Method, pairs: Pairs) -> dict[str, float]:
    """R@K both ways and their Sum on a split, ranked as the test split is."""
    images, sentences = encode_images(method, pairs), encode_sentences(method, pairs)
    rows = pairs.rows
    score_block = scorer(method, images, sentences)(np.arange(len(rows.image_ids)), np.arange(len(rows.caption_ids)))
    return figures(evaluate(score_block, torch.from_numpy(rows.image_of_caption), len(rows.image_ids)))


def _optimizer(weights: list[torch.nn.Parameter], settings: Training) -> torch.optim.Optimizer:
    common = {"lr": settings.learning_rate, "weight_decay": settings.weight_decay, "fused": True}
    if settings.optimizer == "adam":
        return torch.optim.Adam(weights, **common)  # type: ignore[arg-type]
    return torch.optim.SGD(weights, momentum=settings.momentum, **common)  # type: ignore[arg-type]


@contextmanager
def _stop_signals() -> Iterator[threading.Event]:
    """SIGTERM and SIGUSR1 (a cluster's warning before its time limit) set the event instead of ending the process."""
    stop = threading.Event()

    def ask(number: int, _: Any) -> None:
        logger.info("got %s: saving at the next step", signal.Signals(number).name)
        stop.set()

    before = {number: signal.signal(number, ask) for number in (signal.SIGTERM, signal.SIGUSR1)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
