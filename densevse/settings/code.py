"""Which files of the package a script is made of, so that editing one reruns the stages that use it.

Snakemake reruns a job when its script changes but does not look at what the script imports; the files found here
are inputs of the rule instead. Imports are read from the text, nothing is run.
"""

import ast
from functools import cache
from pathlib import Path

PACKAGE = "densevse"


@cache
def imported_files(file: Path, root: Path) -> frozenset[Path]:
    """All files of the package below `root` that `file` imports, directly or through others."""
    found: set[Path] = set()
    waiting = [file]
    while waiting:
        for path in _direct_imports(waiting.pop(), root):
            if path not in found:
                found.add(path)
                waiting.append(path)
    return frozenset(found)


@cache
def _direct_imports(file: Path, root: Path) -> frozenset[Path]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    ours = (name for name in names if name.split(".")[0] == PACKAGE)
    candidates = (root.joinpath(*name.split(".")).with_suffix(".py") for name in ours)
    return frozenset(path for path in candidates if path.is_file())
