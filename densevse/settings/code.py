"""Which files of the package a script is made of, so that editing one reruns the stages that use it.

Snakemake reruns a job when its script changes but does not look at what the script imports; the files found here
are inputs of the rule instead. Imports are read from the text, nothing is run.
"""

import re
from functools import cache
from pathlib import Path

# `import densevse.a.b` or `from densevse.a import b, c`, the latter perhaps in brackets over several lines.
# A pattern, as parsing every file would take most of the time of `snakemake -n`.
IMPORT = re.compile(
    r"^[ \t]*(?:import|from)[ \t]+(densevse[\w.]*)"  # the module
    r"(?:[ \t]+import[ \t]+(\([^)]*\)|[^\n]*))?",  # the names from it
    re.MULTILINE,
)


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
    for module, imported in IMPORT.findall(file.read_text(encoding="utf-8")):
        names |= {module} | {f"{module}.{name}" for name in re.findall(r"\w+", imported)}
    candidates = (root.joinpath(*name.split(".")).with_suffix(".py") for name in names)
    return frozenset(path for path in candidates if path.is_file())
