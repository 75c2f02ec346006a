"""What the processor can really do, where what it says of itself is not to be trusted."""

import faulthandler
import os

import torch

ISA_LIMIT = "ONEDNN_MAX_CPU_ISA"
WITHOUT_MATRIX_UNITS = "AVX512_CORE_FP16"


def avoid_illegal_instructions() -> None:
    """Keep oneDNN from matrix instructions (AMX) that the processor announces but refuses to execute.

    Some virtual machines do so, and there the first product in bf16 ends the process with SIGILL. So that product is
    tried in a child process, which takes milliseconds; if it dies, oneDNN is told to do without. What the user set in
    ONEDNN_MAX_CPU_ISA stays. This must come before anything of the process is computed by oneDNN, which looks once.
    """
    if ISA_LIMIT not in os.environ and torch.cpu._is_amx_tile_supported() and not _survives():
        os.environ[ISA_LIMIT] = WITHOUT_MATRIX_UNITS


def _survives() -> bool:
    """Whether a child process survives a product in bf16."""
    child = os.fork()
    if child == 0:
        faulthandler.disable()  # what the child may die of is no news
        torch.set_num_threads(1)
        square = torch.ones(512, 512, dtype=torch.bfloat16)
        square @ square
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0
