"""`make bench`: every speed figure as a ratio of two things measured in one run, printed as a table."""

import importlib
import pkgutil
import sys

import benchmarks
from densevse.artifacts.files import write_text


def main(chosen: list[str]) -> None:
    """Run the benchmark modules named, or all of them, and print and keep the table."""
    modules = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    rows = [row for name in chosen or modules for row in importlib.import_module(f"benchmarks.{name}").rows()]
    lines = ["| what | target | measured | note |", "|---|---|---:|---|"]
    lines += [f"| {what} | {target} | {measured:.2f} | {note} |" for what, target, measured, note in rows]
    table = "\n".join(lines) + "\n"
    print(table)
    write_text(table, "results/benchmarks.md")


if __name__ == "__main__":
    main(sys.argv[1:])
