"""The user's settings of computations on a GPU: which run as on a CPU, and how much they hold at once."""

import os

import torch

from densevse.runtime.project import JOBS_PER_GPU, LOADER_THREADS, NUMBERS_AT_ONCE, PLAIN_ON_GPU

AUTO = "auto"
_SHARE = 32
"""An intermediate result has at most this part of a job's memory; several stand beside each other."""
_BYTES = 4  # of a number
_SHARE_OF_FEATURES = 3
"""Features have at most this part of it; the method and the results of its steps need the rest."""


def is_plain(kernel: str) -> bool:
    """True if the user wants a kernel on a GPU to compute as on a CPU, step by step, in place of its faster way."""
    return kernel in os.environ.get(PLAIN_ON_GPU, "").split(",")


def numbers_at_once(device: torch.device, on_cpu: int) -> int:
    """The most numbers of an intermediate result on a device; `on_cpu` on a CPU, where it suits a cache.

    On a GPU it follows from the card's whole memory and the jobs that share it, not from what is free: the order of
    sums, and so their last digits, must not depend on other jobs.
    """
    if device.type == "cpu":
        return on_cpu
    given = os.environ.get(NUMBERS_AT_ONCE, AUTO)
    if given != AUTO:
        return int(given)
    return job_memory(device) // _SHARE // _BYTES


def feature_limit(device: torch.device) -> int:
    """The bytes of features that a training may keep in the memory of a GPU."""
    return 0 if is_plain("features") else job_memory(device) // _SHARE_OF_FEATURES


def loader_threads(threads: int) -> int:
    """The number of threads that prepare the work of a GPU for a job of so many `threads`, at least two of them.

    Unless the user gives a number, they are the cores that the job may use, shared by the jobs that run on GPUs.
    """
    given = os.environ.get(LOADER_THREADS, AUTO)
    if given != AUTO:
        return int(given)
    jobs = max(1, torch.cuda.device_count()) * int(os.environ.get(JOBS_PER_GPU, "1"))
    return max(2, threads, len(os.sched_getaffinity(0)) // jobs)


def job_memory(device: torch.device) -> int:
    """The part of a GPU's memory, in bytes, that one of the jobs which may share it can use."""
    whole = torch.get_device_module(device).get_device_properties(device).total_memory
    return int(whole) // int(os.environ.get(JOBS_PER_GPU, "1"))
