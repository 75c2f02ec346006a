"""`make bench`: every speed figure as a ratio of two things measured in one run, printed as a table.

Standard error shows the running benchmark and the time of each; results/benchmarks.md keeps the table.
"""

import importlib
import os
import pkgutil
import sys
import time

import benchmarks
from benchmarks._machine import machine
from snakeproof.files import write_text

KEPT = "results/benchmarks.md"


def names() -> list[str]:
    """Every benchmark: a module of this folder that is not private."""
    return [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]


def main(chosen: list[str]) -> None:
    """Runs the named benchmarks, or all of them, and prints and keeps the table."""
    for name in chosen:
        if name not in names():
            sys.exit(f"there is no benchmark {name!r}; known: {', '.join(names())}")
    chosen = chosen or names()
    begun, lines, took = _now(), ["| what | target | measured | note |", "|---|---|---:|---|"], {}
    print(*lines, sep="\n", flush=True)
    for number, name in enumerate(chosen, 1):
        print(f"{name}: {number} of {len(chosen)}", file=sys.stderr, flush=True)
        start = time.monotonic()
        for what, target, measured, note in importlib.import_module(f"benchmarks.{name}").rows():
            lines.append(f"| {what} | {target} | {measured:.2f} | {note} |")
            print(lines[-1], flush=True)
        took[name] = time.monotonic() - start
        print(f"{name}: {took[name]:.0f} s", file=sys.stderr, flush=True)
        foot = _foot(begun, took)
        write_text("\n".join([*lines, "", *foot]) + "\n", KEPT)
    print("", *foot, sep="\n")


def _now() -> str:
    """The time, and the load of the machine."""
    return f"{time.strftime('%Y-%m-%d %H:%M')} (load average {os.getloadavg()[0]:.2f})"


def _foot(begun: str, took: dict[str, float]) -> list[str]:
    """The foot of the table: where, when and under which load it was measured."""
    each = ", ".join(f"{name} {seconds:.0f}" for name, seconds in took.items())
    return [f"On {machine()}.", f"From {begun} to {_now()}.", f"Seconds: {each}; together {sum(took.values()):.0f}."]


if __name__ == "__main__":
    main(sys.argv[1:])
