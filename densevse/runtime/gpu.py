"""Chooses the device of a job: the GPU that the configuration asks for must exist and work."""

import fcntl
import os
import re
import stat
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import IO

import torch

from densevse.runtime.project import GPU, JOBS_PER_GPU
from snakeproof.errors import InputError
from snakeproof.logs import logger

AUTO, NEVER = "auto", "0"
MPS_PIPES = "CUDA_MPS_PIPE_DIRECTORY"
"""The variable that tells CUDA, and NVIDIA's MPS daemon itself, the folder of the daemon's pipes."""

_WITHOUT = "or compute on the CPU with `--config gpu=0`"
_OLDER = "a torch that is built for an older CUDA (`make environment CUDA=12`)"


def usable_device() -> torch.device:
    """The CPU if the configuration's `gpu` is 0, or auto without a visible GPU; else a GPU locked for this job.

    It waits until a GPU is free (densevse/runtime/gpu.py). Raises `InputError` if fewer GPUs are visible than `gpu`
    asks for, or if a visible one cannot be used.
    """
    return _choose_device(os.environ.get(GPU, AUTO))


@cache
def _choose_device(asked: str) -> torch.device:
    if asked == NEVER:
        return torch.device("cpu")
    visible = torch.cuda.device_count()
    wanted = int(asked) if asked != AUTO else min(visible, 1)
    if visible < wanted:
        raise InputError(
            f"gpu: {asked} requested, but this job sees {visible}{_visibility_note()}; torch {torch.__version__} is "
            f"built for {_torch_platform()}. Ask for as many as there are, {_WITHOUT}."
        )
    if not wanted:
        return torch.device("cpu")
    sharing = int(os.environ.get(JOBS_PER_GPU, "1"))
    card = torch.device("cuda", lock_card(_card_names(visible), sharing))
    _check_card(card)
    torch.cuda.set_device(card)
    _log_sharing(sharing)
    return card


def _log_sharing(jobs: int) -> None:
    """Says in the log whether jobs on one card compute at the same time, as under NVIDIA's MPS daemon, or in turn."""
    pipes = Path(os.environ.get(MPS_PIPES, "/tmp/nvidia-mps"))
    if (pipes / "control").is_socket():
        logger.info("NVIDIA's MPS daemon runs (%s): jobs on this GPU compute at the same time", pipes)
    elif jobs > 1:
        logger.info("jobs_per_gpu is %d, and no MPS daemon runs (%s): jobs on this GPU take turns", jobs, pipes)


def _card_names(visible: int) -> list[str]:
    """The names of the visible GPUs. Raises `InputError` with torch's reason and advice if CUDA does not start."""
    try:
        torch.cuda.init()
        return [str(torch.cuda.get_device_properties(number).uuid) for number in range(visible)]
    except Exception as error:  # a RuntimeError, an AssertionError or torch's DeferredCudaCallError
        reason = str(error).partition("\n")[0]
        raise InputError(
            f"gpu: {visible} visible, but CUDA does not start: {reason} Driver{_driver()}, torch "
            f"{torch.__version__} for {_torch_platform()}. If the driver is for an older CUDA, install a newer one, or "
            f"{_OLDER}. If MIG divides the card, set CUDA_VISIBLE_DEVICES to a name that begins with MIG in "
            f"`nvidia-smi -L`. See whether `nvidia-smi` lists the card as free, {_WITHOUT}."
        ) from error


def _check_card(card: torch.device) -> None:
    """Raises `InputError` with versions and advice if a GPU cannot be used."""
    name, capability = torch.cuda.get_device_name(card), torch.cuda.get_device_capability(card)
    built = torch.cuda.get_arch_list()
    if torch.version.hip is None and not any(_runs(architecture, capability) for architecture in built):
        raise InputError(
            f"gpu: {name} has the compute capability {capability[0]}.{capability[1]}, and torch {torch.__version__} "
            f"({_torch_platform()}) is built for {', '.join(built)}. Install one that is built for it: for an older "
            f"card {_OLDER}; {_WITHOUT}."
        )
    try:
        worked = torch.ones(2, device=card).sum().item() == 2
    except RuntimeError as error:  # torch.AcceleratorError is one too
        worked, reason = False, str(error).splitlines()[0]
    else:
        reason = "a wrong sum"
    if not worked:
        raise InputError(
            f"gpu: {name} is visible, but its first computation failed: {reason}. Driver{_driver()}, torch "
            f"{torch.__version__} for {_torch_platform()}. See whether `nvidia-smi` lists it as free, {_WITHOUT}."
        )


def _runs(architecture: str, capability: tuple[int, int]) -> bool:
    """True if code compiled for an architecture runs on a GPU of this compute capability.

    Machine code (sm_86) runs on GPUs of the same generation with this or a later minor version; code for a single
    version (sm_90a) is treated the same. Code that is compiled on loading (compute_86) runs on all later GPUs.
    """
    found = re.fullmatch(r"(sm|compute)_(\d+)(\d)[af]?", architecture)
    if found is None:
        return False
    kind, major, minor = found[1], int(found[2]), int(found[3])
    return capability >= (major, minor) and (kind == "compute" or capability[0] == major)


def _driver() -> str:
    """The newest CUDA that the driver supports, in brackets; empty if it is unknown."""
    try:
        version = getattr(torch._C, "_cuda_getDriverVersion", int)()  # missing in torch builds for CPUs only
    except RuntimeError:
        return ""
    return f" (for CUDA {version // 1000}.{version % 1000 // 10})" if version else ""


def _torch_platform() -> str:
    if torch.version.hip:
        return f"ROCm {torch.version.hip}"
    return f"CUDA {torch.version.cuda}" if torch.version.cuda else "CPUs alone"


def _visibility_note() -> str:
    shown = os.environ.get("CUDA_VISIBLE_DEVICES")
    return "" if shown is None else f" (CUDA_VISIBLE_DEVICES is {shown!r})"


WAIT = 2.0
"""Seconds between two attempts to lock a card."""

_held: list[IO[str]] = []
"""Locks of this process, kept open until it ends."""


def lock_card(names: Sequence[str], jobs_per_card: int = 1, folder: Path | None = None) -> int:
    """Locks a card that fewer than `jobs_per_card` jobs of this user use; returns its place in `names`.

    `names` are those of the visible cards, the same in every job on the machine (such as UUIDs, as numbers count from
    the first visible one). Waits while every card is in use, and logs that.
    """
    folder = folder or _folder()
    waits = False
    while True:
        for share in range(jobs_per_card):  # a free card before a shared one
            for place, name in enumerate(names):
                if _lock(folder / f"{name}-{share}.lock"):
                    return place
        if not waits:
            logger.info("waiting for a GPU: other jobs use all of %s", ", ".join(names))
            waits = True
        time.sleep(WAIT)


def _lock(path: Path) -> bool:
    file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600), "w", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return False
    _held.append(file)
    return True


def _folder() -> Path:
    """The folder with this user's locks on this machine. Raises `InputError` if it is another user's, or a link."""
    found = Path(tempfile.gettempdir(), f"densevse-gpus-{os.getuid()}")
    with suppress(FileExistsError):
        found.mkdir(mode=0o700)
    status = found.lstat()
    if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.getuid() or status.st_mode & 0o022:
        raise InputError(
            f"{found}: expected a folder of this user that nobody else may write to, as jobs lock GPUs by files in it. "
            "Remove it, or name another folder for temporary files as TMPDIR."
        )
    return found
