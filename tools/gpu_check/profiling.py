"""What a card does in steps of training, by torch's profiler."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd import DeviceType
from torch.autograd.profiler_util import FunctionEvent
from torch.profiler import ProfilerActivity, profile

PAGEABLE = "Memcpy HtoD (Pageable"
WAIT = "cudaStreamSynchronize"  # reading a value, a blocking copy, or a size that only the card knows


@dataclass(frozen=True)
class StepWork:
    """The card's work in a step, on average."""

    busy: float = 0.0  # ms in kernels
    kernels: float = 0.0
    pageable: float = 0.0  # copies to the card from memory that is not pinned
    waits: float = 0.0  # of the host for the card


def profile_steps(step: Callable[[Any], None], batches: Iterable[Any], device: torch.device) -> StepWork:
    """The work of a step on each of these batches; none on a CPU."""
    if device.type != "cuda":
        return StepWork()
    torch.cuda.synchronize()
    steps = 0
    with profile(activities=[ProfilerActivity.CUDA], acc_events=True) as profiler:
        for steps, batch in enumerate(batches, 1):  # noqa: B007
            step(batch)
    return mean_work(profiler.events(), steps)


def mean_work(events: Iterable[FunctionEvent], steps: int) -> StepWork:
    """The mean work of a step, from the profiler's events of `steps` steps."""
    known = list(events)
    on_card = [event for event in known if event.device_type == DeviceType.CUDA and not event.is_user_annotation]
    kernels = [event for event in on_card if not event.name.startswith(("Memcpy", "Memset"))]
    busy = sum(event.time_range.elapsed_us() for event in kernels) / 1000
    pageable = sum(event.name.startswith(PAGEABLE) for event in on_card)
    waits = sum(event.name == WAIT for event in known)
    return StepWork(busy / steps, len(kernels) / steps, pageable / steps, waits / steps)
