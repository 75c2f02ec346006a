"""How much of each kind of work one core does in a second: estimates, or what `densevse plan --measure` found here.

What was measured is kept in the user's cache ($XDG_CACHE_HOME, by default ~/.cache), in one file for each processor and
version of torch.
"""

import json
import os
import platform
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from snakeproof.errors import InputError

ESTIMATES: Mapping[str, float] = {
    "convolutions": 5.7e10,  # floating-point operations of a network's convolutions and linear layers
    "half_convolutions": 5.7e10,  # the same in bf16, where that is faster; AVX2 has no instructions for it
    "written": 1.2e9,  # numbers that a network's layers write
    "products": 6e10,  # floating-point operations of matrix products, in training and ranking
    "sums": 4e9,  # terms of a sum of tanh
    "operators": 6e4,  # operators that are started, however little each computes
    "pixels": 9e7,  # pixels of a photograph that are decoded
    "crops": 1e4,  # boxes that are cropped and resized
    "searched": 1e6,  # pixels in which selective search finds boxes, in its mode single
    "parsed": 13.5,  # sentences that CoreNLP parses
    "starts": 0.3,  # jobs that start with torch
}
"""The amount of each kind of work in a second of one core, as one core of an AMD EPYC with AVX2 does it."""

NOT_MEASURED = ("parsed",)
"""What --measure leaves as an estimate: CoreNLP needs Java and half a minute to start."""


class Rates(NamedTuple):
    """The work in a second of one core, by its kind."""

    by_kind: Mapping[str, float]
    measured: date | None = None  # None for estimates

    def seconds(self, amounts: Mapping[str, float] | None) -> float | None:
        """The seconds of one core that amounts of work take; None for unknown ones."""
        return None if amounts is None else sum(amount / self.by_kind[kind] for kind, amount in amounts.items())

    def keep(self) -> Path:
        """Writes the rates, as measured now, into the user's cache; returns the file."""
        file = cache_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        part = file.with_name(f"{file.name}.{os.getpid()}.part")
        part.write_text(json.dumps({"measured": str(self.measured), "rates": self.by_kind}, indent=1), encoding="utf-8")
        part.replace(file)
        return file


def known_rates() -> Rates:
    """The rates that were measured on this processor with this torch, or else the estimates.

    Raises `InputError` for a file that cannot be read.
    """
    file = cache_file()
    if not file.is_file():
        return Rates(ESTIMATES)
    try:
        found = json.loads(file.read_bytes())
        rates = {kind: float(found["rates"][kind]) for kind in ESTIMATES}
        return Rates(rates, date.fromisoformat(found["measured"]))
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{file}: {error!r}; measure the rates again (`densevse plan --measure`).") from None


def cache_file() -> Path:
    """The file of this processor and this version of torch."""
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "densevse")
    of = re.sub(r"[^A-Za-z0-9.]+", "-", " ".join([processor(), "torch", version("torch")]))
    return folder / f"rates-{of}.json"


def processor() -> str:
    """The processor's name, with the newest instructions that its speed of products depends on."""
    file = Path("/proc/cpuinfo")
    text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
    name = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    sets = [one for one in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if re.search(rf"\b{one}\b", text)]
    return " ".join([name[1] if name else platform.processor() or platform.machine(), *sets[-1:]])


def today() -> date:
    """The date in UTC."""
    return datetime.now(UTC).date()
