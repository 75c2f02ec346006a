"""The numerics of a job: threads, device, seed, matrix products and precision.

Every job that uses torch calls `set_up` first, or `set_up_processor` if it never computes on a GPU.
"""

import faulthandler
import hashlib
import os
import random
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch

from densevse.runtime import exact
from densevse.runtime.gpu import usable_device
from densevse.runtime.through_numpy import replace_kernels
from snakeproof.logs import logger

Precision = Literal["bf16", "fp32"]
TrainingPrecision = Literal["float32", "tf32", "bf16"]

STOP_SIGNALS = (signal.SIGTERM, signal.SIGUSR1)
"""The signals that ask a training to stop; the second is a cluster's warning."""

MATRIX_LIMITS: tuple[str, ...] = ("AMX", "ALL", "DEFAULT")
"""The value of ONEDNN_MAX_CPU_ISA that allows Intel's matrix units."""

VECTOR_LIMITS = (*MATRIX_LIMITS, "BF16", "FP16", "AVX10")
"""The value of ONEDNN_MAX_CPU_ISA that allows vector instructions for bf16, which AMD has too."""


def set_up(threads: int, precision: TrainingPrecision = "float32") -> torch.device:
    """Sets the number of threads and the precision and library of products; returns the device.

    The rule of the job has the resources of `settings.accelerator`. Raises `InputError` as `usable_device` does.
    """
    set_up_processor(threads)
    # By default torch allows convolutions and LSTMs on a GPU to round to tf32.
    cudnn: Any = torch.backends.cudnn
    for products in (torch.backends.cuda.matmul, cudnn.conv, cudnn.rnn):
        products.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    found = device()
    logger.info("computing on %s with %d threads, torch %s", found, threads, torch.__version__)
    return found


def set_up_processor(threads: int) -> None:
    """Sets the number of threads and the library of products on the CPU. It asks for no GPU and locks none."""
    avoid_illegal_instructions()
    torch.set_num_threads(threads)
    if exact.has_begun():
        replace_kernels()
    # The first exp or tanh of a process may have a low precision in MKL 2024.2, which torch 2.15 has still, if two
    # threads ask for it at once (pytorch issue 188792). So one thread asks first.
    for function in (torch.exp, torch.tanh, torch.log, torch.sqrt):
        function(torch.ones(1))
    if is_onednn_faster():
        # This would let oneDNN round to bf16, which it does only with matrix units (AMX); AMD's processors have none.
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]


def device() -> torch.device:
    """The device that jobs use. Raises `InputError` as `usable_device` does."""
    return usable_device()


def seed_everything(seed: int, *names: str) -> None:
    """Seeds torch with a seed and a job's name, so that two jobs with one seed differ."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "big") >> 1)


@contextmanager
def keep_state() -> Iterator[None]:
    """Restores at its end what code of others may change in this process, and results depend on.

    That is the state of random numbers of torch (also on GPUs), NumPy and Python; whether gradients are computed;
    torch's threads, default type and device, algorithms and precision; NumPy's handling of errors; the folder; and what
    signals do.
    """
    generators: list[tuple[Callable[[Any], object], Any]] = [
        (torch.set_rng_state, torch.get_rng_state()),
        (np.random.set_state, np.random.get_state()),
        (random.setstate, random.getstate()),
    ]
    if torch.cuda.is_initialized():
        generators.append((torch.cuda.set_rng_state_all, torch.cuda.get_rng_state_all()))
    flags = [(owner, name, getattr(owner, name)) for owner, names in _FLAGS.items() for name in names]
    settings = [(write, read, read()) for write, read in _SETTINGS]
    try:
        with torch.set_grad_enabled(torch.is_grad_enabled()), np.errstate():
            yield
    finally:
        for write, value in generators:
            write(value)
        for owner, name, value in flags:
            setattr(owner, name, value)
        for write, read, value in settings:
            if read() != value:
                write(value)


_FLAGS: dict[Any, tuple[str, ...]] = {
    torch.backends.cuda.matmul: ("fp32_precision",),
    torch.backends.cudnn.conv: ("fp32_precision",),  # type: ignore[attr-defined]
    torch.backends.cudnn.rnn: ("fp32_precision",),
    torch.backends.mkldnn.matmul: ("fp32_precision",),  # type: ignore[attr-defined]
    torch.backends.cudnn: ("benchmark", "deterministic"),
}
_SETTINGS: list[tuple[Callable[[Any], object], Callable[[], Any]]] = [
    (torch.set_num_threads, torch.get_num_threads),
    (torch.set_default_dtype, torch.get_default_dtype),
    (torch.set_default_device, torch.get_default_device),
    *((partial(torch.set_autocast_enabled, one), partial(torch.is_autocast_enabled, one)) for one in ("cpu", "cuda")),
    (torch.set_deterministic_debug_mode, torch.get_deterministic_debug_mode),
    (os.chdir, os.getcwd),
    # By which a training stops and is saved.
    *((partial(signal.signal, one), partial(signal.getsignal, one)) for one in (signal.SIGINT, *STOP_SIGNALS)),
]


def is_onednn_faster() -> bool:
    """True if oneDNN computes float32 products faster than Intel's MKL, which torch uses by default.

    On an AMD processor with AVX-512 oneDNN takes between a half and two thirds of the time (measured on Zen 5). On
    Intel's it is slower (Cascade Lake: 0.64 to 0.96 times as fast; Sapphire Rapids with one thread: 0.82 to 1.06
    times). The choice depends on the processor's name and not on a timing, as two runs on one machine must give the
    same bits.
    """
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and _vendor() == "AuthenticAMD"


def gpu_computes_bf16() -> bool:
    """True if the GPU has units for bf16 and tf32. Older GPUs only emulate bf16, which is slow."""
    has_units: bool = torch.cuda.is_bf16_supported(including_emulation=False)
    return has_units


def fastest_precision() -> Precision:
    """bf16 if it is faster than fp32: on GPUs that have it, on Intel's matrix units, on AMD's vector units.

    VGG19 in bf16 takes 0.4 times the time of fp32 on AMD's Zen 5. On an Intel processor (Sapphire Rapids) whose matrix
    units cannot be used, bf16 with vector instructions takes 1.0 (MobileNetV2) to 1.6 times (VGG19, ResNet-152) the
    time of fp32; without instructions for bf16 (Cascade Lake) it takes 2.3 times.
    """
    if device().type == "cuda":
        return "bf16" if gpu_computes_bf16() else "fp32"
    if _vendor() == "GenuineIntel":
        computes, limits = torch.cpu._is_amx_tile_supported(), MATRIX_LIMITS
    else:
        computes, limits = torch.cpu._is_avx512_bf16_supported(), VECTOR_LIMITS
    limit = os.environ.get(ISA_LIMIT, "DEFAULT").upper()
    return "bf16" if computes and any(name in limit for name in limits) else "fp32"


def _vendor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return "unknown"
    return next((line.split(":")[1].strip() for line in lines if line.startswith("vendor_id")), "unknown")


ISA_LIMIT = "ONEDNN_MAX_CPU_ISA"
WITHOUT_MATRIX_UNITS = "AVX512_CORE_FP16"


def avoid_illegal_instructions() -> None:
    """Keeps oneDNN from matrix instructions (AMX) that the processor announces but does not execute.

    On some virtual machines the first product in bf16 ends the process with SIGILL. So a child process tries that
    product, which takes milliseconds; if it dies, ONEDNN_MAX_CPU_ISA excludes AMX, unless the user set that variable.
    Call this before the process uses oneDNN, which reads the variable once.
    """
    if ISA_LIMIT not in os.environ and torch.cpu._is_amx_tile_supported() and not _survives():
        os.environ[ISA_LIMIT] = WITHOUT_MATRIX_UNITS


def _survives() -> bool:
    """True if a child process survives a product in bf16."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # the child may die of what is already known
        torch.set_num_threads(1)
        square = torch.ones(512, 512, dtype=torch.bfloat16)
        square @ square
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
