"""What the one loop trains: a module, batches of examples, the loss of a batch, and measures that validate it."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from torch import Tensor, nn

from densevse.config.strict import Strict
from densevse.config.validation import validate
from densevse.methods.interface import Moment
from densevse.runtime.arrays import Indices


class Task(ABC):
    """Something to be trained. The loop knows no more of it than stands here."""

    module: nn.Module  # what is trained and checkpointed
    parameters: Strict  # what phases may change, told to `loss` in the `Moment`
    selects: str  # the measure whose largest value decides which epoch's weights are kept
    examples: int  # how many training examples an epoch goes over

    @abstractmethod
    def batch(self, examples: Indices, epoch: int) -> Any:
        """The batch of some training examples, on the CPU; a function of its arguments alone, so that training resumes.

        Tensors inside a tensor, tuple, dictionary or dataclass are moved to the module's device before `loss`.
        """

    @abstractmethod
    def loss(self, batch: Any, moment: Moment) -> Tensor:
        """The loss of a batch at a moment of the training: a scalar."""

    @abstractmethod
    def validate(self) -> dict[str, float]:
        """Named measures of the module as it is, on the validation set; larger values of `selects` are better."""

    def parameters_in(self, phase: str, changes: Mapping[str, Any]) -> Strict:
        """The parameters as a phase changes them. Raises `InputError` naming a change that does not fit."""
        if not changes:
            return self.parameters
        values = {**self.parameters.model_dump(), **changes}
        return validate(type(self.parameters), values, f"phases.{phase}.parameters")
