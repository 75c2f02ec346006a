"""The interface of everything that the loop trains: a module, batches, their loss, and validation."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from densevse.methods.interface import Moment
from densevse.runtime.arrays import Indices
from snakeproof.strict import Strict, validate


class Task(ABC):
    """A training task; the loop uses nothing else of it."""

    module: nn.Module  # the module that is trained and checkpointed
    parameters: Strict  # the parameters that phases may change; `loss` gets them in the `Moment`
    selects: str  # the measure whose largest value selects the epoch
    examples: int  # the number of training examples in an epoch

    @abstractmethod
    def batch(self, examples: Indices, epoch: int) -> Any:
        """A batch of training examples, on the CPU. It must depend on its arguments alone, so that training can resume.

        Tensors inside a tensor, tuple, dictionary or dataclass are moved to the module's device before `loss`.
        """

    def to(self, device: torch.device) -> None:
        """Moves the module to the device that trains it; a task may prepare later batches for that device."""
        self.module.to(device)

    @abstractmethod
    def loss(self, batch: Any, moment: Moment) -> Tensor:
        """The loss of a batch at a moment of the training: a scalar."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Named measures of the current module on the validation set; larger values of `selects` are better."""

    @abstractmethod
    def save(self, path: Path, **found: Any) -> None:
        """Writes the trained weights, with `found`, facts of their training such as its round and device."""

    def phase_parameters(self, phase: str, changes: Mapping[str, Any]) -> Strict:
        """The parameters with a phase's changes. Raises `InputError` that names a change that does not fit."""
        if not changes:
            return self.parameters
        values = {**self.parameters.model_dump(), **changes}
        return validate(type(self.parameters), values, f"phases.{phase}.parameters")
