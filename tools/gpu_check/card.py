"""The device that steps are timed on."""

import os

import torch

from densevse.runtime.gpu import NEVER, usable_device
from densevse.runtime.project import GPU


def use_card() -> str:
    """Lets this process compute on a card, as jobs do; names it. Raises `InputError` if there is none or it fails."""
    os.environ[GPU] = "1"
    found = torch.cuda.get_device_properties(usable_device())
    about = f"compute capability {found.major}.{found.minor}, {found.total_memory / 2**30:.0f} GiB"
    return f"{found.name} ({about}) with torch {torch.__version__}"


def use_processor() -> str:
    """Lets this process compute on the CPU; names it."""
    os.environ[GPU] = NEVER
    return f"CPU with torch {torch.__version__}"
