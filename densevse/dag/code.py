"""Digests of the code that a job runs, so that an edit reruns the jobs whose script reaches it, and no others.

A digest covers a script and every module of the package that it reaches by imports: what they do, but neither
comments, docstrings nor formatting. The modules that declare what may stand in the configuration are left out. What
they decide reaches a job as values, in the `params` of its rule, and only the fields whose names occur in the code
that the job runs are put there (`names`). So a new field with a default reruns nothing until some code reads it, and
a changed default reruns the jobs that read and use it.
"""

import ast
import hashlib
import json
import os
import re
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from densevse.config.environment import PACKAGED

PACKAGE = "densevse"
SCRIPTS = "workflow/scripts"
DECLARATIONS = re.compile(rf"{PACKAGE}/(config/|methods/parameters/|analyses/\w+/settings\.py)")
"""Their types say what may stand in the configuration, and hold no logic that a job runs."""

WITHOUT_EFFECT = {"ctx", "kind", "type_comment", "type_ignores"}


class Facts(NamedTuple):
    """What is known of one file."""

    digest: str
    imports: list[str]  # dotted names of the package's modules, or of what is in them
    names: list[str]  # identifiers that occur in it, in quotation marks or not


class Code:
    """The code of a project below `root`.

    Facts about files are kept in `kept`, by their size and time of change, as parsing all of them would take most of
    the time of a dry run. Where that file is missing, damaged or cannot be written, everything is parsed again.
    """

    def __init__(self, root: str | Path, kept: str | Path) -> None:
        before = _read_kept(Path(kept))
        found = {name: _facts_or_kept(path, before.get(name)) for name, path in _files(Path(root))}
        if found != before:
            _write_kept(found, Path(kept))
        self._facts = {file: Facts(*known[2:]) for file, known in found.items()}
        self._imports = {file: self._files_of(*known.imports) for file, known in self._facts.items()}
        # Hundreds of jobs ask for the same few scripts.
        self.reached, self.names, self.digest = cache(self._reached), cache(self._names), cache(self._digest)

    def _digest(self, script: str, *modules: str) -> str:
        """The digest of a script below workflow/scripts/ and of what it reaches.

        `modules` are further modules that it imports by names that are only known when it runs, such as
        `densevse.methods.vse`.
        """
        described = [(file, self._facts[file].digest) for file in self.reached(script, *modules)]
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]

    def _names(self, script: str, *modules: str) -> frozenset[str]:
        """The identifiers in a script and in what it reaches."""
        return frozenset().union(*(self._facts[file].names for file in self.reached(script, *modules)))

    def _reached(self, script: str, *modules: str) -> tuple[str, ...]:
        """The script and every file of the package that it imports, directly or through others; sorted.

        The modules that declare the configuration are not among them, unless they are given by name.
        """
        waiting = {f"{SCRIPTS}/{script}"} | self._files_of(*modules)
        found = set(waiting)
        while waiting:
            waiting |= self._imports[waiting.pop()] - found
            found |= waiting
        given = {f"{module.replace('.', '/')}.py" for module in modules}
        return tuple(sorted(file for file in found if file in given or not DECLARATIONS.match(file)))

    def _files_of(self, *modules: str) -> set[str]:
        """The files of modules, where a name is one's, and those of the packages that are imported with them."""
        paths = {
            "/".join(parts[: count + 1]) for parts in (m.split(".") for m in modules) for count in range(len(parts))
        }
        return {file for path in paths for file in (f"{path}.py", f"{path}/__init__.py") if file in self._facts}


def _files(root: Path) -> Iterator[tuple[str, Path]]:
    """The package's files and the scripts, each with its name in a checkout, which is that in an installed package too.

    There `root` is a folder in the package.
    """
    checkout = Path(root, PACKAGE)
    for name, folder in ((PACKAGE, checkout if checkout.is_dir() else root.parent), (SCRIPTS, root / SCRIPTS)):
        for path in folder.rglob("*.py"):
            place = path.relative_to(folder)
            if place.parts[0] != PACKAGED:
                yield f"{name}/{place.as_posix()}", path


def _facts_or_kept(path: Path, known: list[Any] | None) -> list[Any]:
    """Size and time of change of a file, then the facts."""
    status = path.stat()
    if known and known[:2] == [status.st_size, status.st_mtime_ns]:
        return known
    return [status.st_size, status.st_mtime_ns, *facts(path.read_text(encoding="utf-8"))]


def _read_kept(kept: Path) -> dict[str, list[Any]]:
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
        return dict(content["facts"]) if content["by"] == _by() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write_kept(found: dict[str, list[Any]], kept: Path) -> None:
    """Keep what was found for the next time; a folder that cannot be written to is no error."""
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=kept.parent, delete=False, encoding="utf-8") as file:
            json.dump({"by": _by(), "facts": found}, file)
        os.replace(file.name, kept)
    except OSError:
        return


def facts(source: str) -> Facts:
    """What a file's text says. Raises `SyntaxError` if it is no Python."""
    tree = ast.parse(source)
    imports: set[str] = set()
    names: set[str] = set()
    for node in _executed(tree):
        imports |= set(_imported(node))
        names |= set(_named(node))
    ours = {name for name in imports if name.split(".")[0] == PACKAGE}
    digest = hashlib.sha256("\n".join(_written(tree)).encode()).hexdigest()[:16]
    return Facts(digest, sorted(ours), sorted(names))


def _executed(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads, and docstrings."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not _is_text(child) and not _is_for_type_checkers(child):
            yield from _executed(child)


def _imported(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield from (f"{node.module}.{alias.name}" for alias in node.names)


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.keyword | ast.arg) and node.arg:
        yield node.arg
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.isidentifier():
        yield node.value


def _written(node: Any) -> Iterator[str]:
    """A tree as lines that are the same in every version of Python: unset fields are left out."""
    if isinstance(node, list):
        yield "["
        for item in node:
            if not (_is_text(item) or isinstance(item, ast.Pass) or _is_for_type_checkers(item)):
                yield from _written(item)
        yield "]"
    elif isinstance(node, ast.AST):
        yield f"({type(node).__name__}"
        for name, value in ast.iter_fields(node):
            if name not in WITHOUT_EFFECT and value is not None and value != []:
                yield name
                yield from _written(value)
        yield ")"
    else:
        yield repr(node)


def _is_text(node: Any) -> bool:
    """Whether a statement is nothing but text: a docstring, of whatever it stands below."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_for_type_checkers(node: Any) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _by() -> list[Any]:
    """What facts are found by: another version of this file, or of Python, may see others."""
    status = Path(__file__).stat()
    return [*sys.version_info[:2], status.st_size, status.st_mtime_ns]
