"""`make bench`: every speed figure as a ratio of two things measured in one run, printed as a table."""

import importlib
import pkgutil
import sys

import benchmarks
from densevse.artifacts.files import write_text


def main(chosen: list[str]) -> None:
    """Run the benchmark modules named, or all of them, and print and keep the table."""
    modules = [module.name for module in pkgutil.iter_modules(benchmarks.__path__) if not module.name.startswith("_")]
    for name in chosen:
        if name not in modules:
            sys.exit(f"there is no benchmark {name!r}; known: {', '.join(modules)}")
    lines = ["| what | target | measured | note |", "|---|---|---:|---|"]
    print(*lines, sep="\n", flush=True)
    for name in chosen or modules:
        for what, target, measured, note in importlib.import_module(f"benchmarks.{name}").rows():
            lines.append(f"| {what} | {target} | {measured:.2f} | {note} |")
            print(lines[-1], flush=True)
        write_text("\n".join(lines) + "\n", "results/benchmarks.md")


if __name__ == "__main__":
    main(sys.argv[1:])
