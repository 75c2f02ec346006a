"""What the user decides about computations on a GPU: which of them run as on a CPU, and how much they hold at once."""

import os

import torch

from densevse.runtime.project import JOBS_PER_GPU, NUMBERS_AT_ONCE, PLAIN_ON_GPU

AUTO = "auto"
_SHARE = 32
"""An intermediate result has at most this part of a job's memory; several stand beside each other."""
_BYTES = 4  # of a number


def is_plain(kernel: str) -> bool:
    """True if the user wants a kernel on a GPU to compute as on a CPU, step by step, in place of its faster way."""
    return kernel in os.environ.get(PLAIN_ON_GPU, "").split(",")


def numbers_at_once(device: torch.device, on_cpu: int) -> int:
    """How many numbers an intermediate result may have on a device; `on_cpu` on a CPU, where it suits a cache.

    On a GPU it follows from the card's whole memory and the jobs that share it, not from what is free: the order of
    sums, and so their last digits, must not depend on other jobs.
    """
    if device.type == "cpu":
        return on_cpu
    given = os.environ.get(NUMBERS_AT_ONCE, AUTO)
    if given != AUTO:
        return int(given)
    jobs = int(os.environ.get(JOBS_PER_GPU, "1"))
    return int(memory_of(device)) // jobs // _SHARE // _BYTES


def memory_of(device: torch.device) -> int:
    """The whole memory of a GPU in bytes."""
    found: int = torch.get_device_module(device).get_device_properties(device).total_memory
    return found
