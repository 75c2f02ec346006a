"""The average of weights over the steps of a training, which often ranks better than the last step's weights."""

from collections.abc import Iterator
from contextlib import contextmanager

from torch import Tensor, nn


class MovingAverage:
    """The exponential moving average of a module's weights and buffers over steps (Polyak and Juditsky 1992).

    At every step the average keeps the share `decay`, so that it covers about the last 1 / (1 - decay) steps.
    """

    def __init__(self, module: nn.Module, decay: float) -> None:
        self.decay = decay
        # The module's own tensors, so that writing to them in place changes its weights.
        self.weights = {name: weight for name, weight in module.state_dict().items() if weight.is_floating_point()}
        self.values = _copied(self.weights)

    def update(self) -> None:
        """Updates the average with the weights after a step."""
        for name, weight in self.weights.items():
            self.values[name].lerp_(weight, 1 - self.decay)

    @contextmanager
    def in_module(self) -> Iterator[None]:
        """Puts the average in place of the module's weights while the context lasts."""
        kept = _copied(self.weights)
        _write(self.values, self.weights)
        try:
            yield
        finally:
            _write(kept, self.weights)


def _copied(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.clone() for name, tensor in tensors.items()}


def _write(values: dict[str, Tensor], tensors: dict[str, Tensor]) -> None:
    for name, tensor in tensors.items():
        tensor.copy_(values[name])
