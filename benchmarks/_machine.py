"""Describes the measuring machine: its processor, cores and instruction sets."""

import os
import platform
from pathlib import Path

FACTS = Path("/proc/cpuinfo")
SETS = ("avx2", "avx512f", "avx512_bf16", "amx_bf16")
"""The instruction sets that decide the speed of products, by Linux's names."""


def machine() -> str:
    """The processor, the cores that this process may use, and the existing ones of `SETS` (Linux; else fewer)."""
    facts = _facts() if FACTS.is_file() else {}
    sets = [name for name in SETS if name in facts.get("flags", "").split()]
    known = f", with {' and '.join(sets) or 'none of ' + ', '.join(SETS)}" if facts else ""
    return f"{facts.get('model name', platform.machine())}, {_cores()} cores{known}"


def _facts() -> dict[str, str]:
    """The processor's description of itself; of several cores the last one's."""
    lines = (line.partition(":") for line in FACTS.read_text(encoding="utf-8").splitlines())
    return {key.strip(): value.strip() for key, _, value in lines}


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
