"""Tests what the processor can execute, where it announces more than it can."""

import faulthandler
import os

import torch

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
