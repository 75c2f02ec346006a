"""Exact jobs: those that compute the same bits on every x86-64 processor with AVX2.

Libraries choose their code by the processor, and another code rounds otherwise. So such a job gives them the
variables below before it loads them, and computes with one thread. What a library has no variable for, or only a slow
one, goes through another library (densevse/runtime/through_numpy.py).
"""

import os
import platform
import sys
from pathlib import Path

from densevse.runtime.project import GPU
from snakeproof.errors import InputError

REVISION = "exact"
"""The revision (snakeproof.jobs) of an exact job: its files are others than those that the same job makes otherwise."""

VARIABLES = {
    "OPENBLAS_CORETYPE": "HASWELL",  # NumPy, SciPy, OpenCV and faiss have an OpenBLAS each
    "OPENBLAS_NUM_THREADS": "1",
    "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR",
    "ATEN_CPU_CAPABILITY": "avx2",  # PyTorch's own kernels
    "ONEDNN_MAX_CPU_ISA": "AVX2",  # its convolutions
    "MKL_CBWR": "COMPATIBLE",  # the others are for Intel's processors alone
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "",  # those of that processor
    GPU: "0",
    "OPENCV_IPP": "disabled",
    "OPENCV_LOG_LEVEL": "ERROR",  # it warns of that in each process
}
"""The variables of an exact job. They replace the user's own."""

_READERS = ("numpy", "torch", "cv2", "numba")
"""The packages that read a variable once, when they are loaded."""
_FEATURES = {"abm", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe"}
_begun = False


def why_not_exact(gpu: str | int) -> str | None:
    """Why jobs cannot be exact on this machine with the configuration's key `gpu`; None if they can."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return f"this machine is {platform.system()} on {platform.machine()}, and exact jobs need Linux on x86-64"
    if lacking := sorted(_FEATURES - _processor_features()):
        return f"this processor has no {', '.join(lacking)}"
    devices = [path for path in ("/dev/nvidiactl", "/dev/kfd") if Path(path).exists()]
    if gpu not in ("auto", 0) or (gpu == "auto" and devices):
        return "jobs may use a GPU; `gpu: 0` keeps them from it"
    return None


def _processor_features() -> set[str]:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    return set(next((line for line in lines if line.startswith("flags")), ":").partition(":")[2].split())


def begin() -> None:
    """Makes this process an exact one, before it loads a library that computes.

    Raises `InputError` if it has loaded one already, as that has chosen its code, or if the processor has no AVX2.
    """
    global _begun
    if reason := why_not_exact(gpu=0):
        raise InputError(f"exact: {reason}. Run without `exact`, or let the job run on another machine.")
    if loaded := [name for name in _READERS if name in sys.modules and not _begun]:
        raise InputError(
            f"exact: {', '.join(loaded)} was loaded before the job began, and has chosen its code by the processor. "
            "Remove what loads it, such as a sitecustomize or a .pth file in the environment."
        )
    os.environ.update(VARIABLES)
    _begun = True


def has_begun() -> bool:
    """True in a process that computes exactly."""
    return _begun
