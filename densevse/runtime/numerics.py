"""How a job computes: its threads, its device, its seed, its matrix products and its precision.

Every job that computes with torch calls `set_up` before anything else.
"""

import hashlib
import os
from pathlib import Path
from typing import Literal

import torch

from densevse.runtime.gpu import usable_device
from densevse.runtime.logs import logger
from densevse.runtime.processor import ISA_LIMIT, avoid_illegal_instructions

Precision = Literal["bf16", "fp32"]
TrainingPrecision = Literal["float32", "tf32", "bf16"]

MATRIX_LIMITS: tuple[str, ...] = ("AMX", "ALL", "DEFAULT")
"""What a limit on oneDNN's instructions (ONEDNN_MAX_CPU_ISA) is called where it leaves Intel's matrix units."""

VECTOR_LIMITS = (*MATRIX_LIMITS, "BF16", "FP16", "AVX10")
"""The same, where it leaves vector instructions for bf16, which AMD has too."""


def set_up(threads: int, precision: TrainingPrecision = "float32") -> torch.device:
    """Fix the number of threads and the precision of products, choose the faster one, and return the device.

    Raises `InputError` as `usable_device` does.
    """
    avoid_illegal_instructions()
    torch.set_num_threads(threads)
    if products_by_onednn():
        # The setting lets oneDNN round to bf16, which it does only with matrix units (AMX); AMD's processors have none.
        torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]
    # By default torch lets convolutions on a GPU round to tf32.
    for products in (torch.backends.cuda.matmul, torch.backends.cudnn.conv):  # type: ignore[attr-defined]
        products.fp32_precision = "tf32" if precision == "tf32" else "ieee"
    found = device()
    logger.info("computing on %s with %d threads, torch %s", found, threads, torch.__version__)
    return found


def device() -> torch.device:
    """The device that jobs compute on. Raises `InputError` as `usable_device` does."""
    return usable_device()


def seed_everything(seed: int, *names: str) -> None:
    """Seed torch from a seed and what the job is called, so that two jobs of one seed differ."""
    digest = hashlib.sha256("/".join([str(seed), *names]).encode()).digest()
    torch.manual_seed(int.from_bytes(digest[:8], "big") >> 1)


def products_by_onednn() -> bool:
    """Whether oneDNN computes float32 products faster than MKL, Intel's library, which torch takes by default.

    On an AMD processor with AVX-512 it takes between a half and two thirds of the time (measured on Zen 5); on Intel's
    it does not (Cascade Lake: 0.64 to 0.96 times as fast; Sapphire Rapids with one thread: 0.82 to 1.06 times). The
    processor is asked, and nothing is timed, as two runs on one machine must give the same bits.
    """
    return torch.backends.cpu.get_cpu_capability() == "AVX512" and _vendor() == "AuthenticAMD"


def fastest_precision() -> Precision:
    """bf16 where it is faster than fp32: on GPUs that have it, on Intel's matrix units, on AMD's vector units.

    VGG19 in bf16 takes 0.4 times the time of fp32 on AMD's Zen 5. On an Intel processor (Sapphire Rapids) that refuses
    its matrix units, bf16 by vector instructions takes 1.0 (MobileNetV2) to 1.6 times (VGG19, ResNet-152) that of
    fp32, and on one without instructions for bf16 (Cascade Lake) 2.3 times.
    """
    if device().type == "cuda":
        return "bf16" if torch.cuda.is_bf16_supported(including_emulation=False) else "fp32"
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
