"""The card that jobs would compute on, in a module of its own, as a spawned process imports it."""

import os

import torch

from densevse.runtime.gpu import usable_device
from densevse.runtime.project import GPU


def card() -> str:
    """The card that jobs would compute on, in words. Raises `InputError`, as they do, if there is none or it fails."""
    os.environ[GPU] = "1"
    found = torch.cuda.get_device_properties(usable_device())
    about = f"compute capability {found.major}.{found.minor}, {found.total_memory / 2**30:.0f} GiB"
    return f"{found.name} ({about}) with torch {torch.__version__}"
