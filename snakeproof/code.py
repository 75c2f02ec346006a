"""Digests of the code of jobs, so that an edit reruns exactly the jobs whose function reaches it by imports.

A digest covers the module of a function and every module that it reaches by imports, of the project's packages, of this
package and of packages with plug-ins, without comments, docstrings and formatting. The modules that declare the
configuration are left out, as their values reach a job in the `params` of its rule (snakeproof.jobs). So a changed
default reruns the jobs that are given it.
"""

import ast
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias

from snakeproof.errors import InputError
from snakeproof.files import file_facts, write_text
from snakeproof.plugins import Plugin

NOTHING = r"(?!)"
"""The pattern of no module."""
OWN = re.compile(r"snakeproof/(strict|yaml_files|plugins)\.py")
"""The modules of this package that read a configuration; they have no logic that a job runs."""

_KNOWN = 5
"""The number of values that are cached of a file before its facts."""

File: TypeAlias = os.DirEntry[str] | Path

WITHOUT_EFFECT = {"ctx", "kind", "type_comment", "type_ignores"}
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
"""The fields of statements that hold statements."""


class Facts(NamedTuple):
    """The facts about one file."""

    digest: str
    imports: list[str]  # dotted names of modules of any package, or of names in them
    functions: dict[str, list[str]]  # each public function's parameters; one with a default ends in =


class Code:
    """The code of a project's packages in a folder, of this package, and of those that declare plug-ins.

    Modules whose paths `declarations` matches declare the configuration, and are in no digest. `moved` has the new name
    of each module, and of each name in one, that can still be imported by an old name.

    The file `kept` caches facts, as parsing all files would take most of the time of a dry run. A file is read again
    only if its size, times or inode differ from those of the last reading, and parsed again only if its bytes do. If
    `kept` is missing, damaged or not writable, everything is parsed again.
    """

    def __init__(
        self,
        folder: str | Path,
        packages: Sequence[str],
        kept: str | Path,
        declarations: str = NOTHING,
        plugins: Sequence[Plugin] = (),
        moved: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._folder, self._declarations = Path(folder), re.compile(declarations)
        self._named, self._moved = packages, moved
        before = _read_cache(Path(kept))
        # Neither its tests nor its example, in the folders beside this file, are part of a job.
        files: dict[str, File] = {f"snakeproof/{file.name}": file for file in Path(__file__).parent.glob("*.py")}
        files |= {
            name: file for package in packages for name, file in _python_files(str(self._folder / package), package)
        }
        files |= dict(_plugin_files(plugins))
        found = {name: _update_facts(name, file, before.get(name)) for name, file in files.items()}
        if found != before:
            _write_cache(found, Path(kept))
        self._facts = {file: Facts(*known[_KNOWN:]) for file, known in found.items()}
        self._imports = {file: self._module_files(*known.imports) for file, known in self._facts.items()}
        self._declared = {name for plugin in plugins for name in _file_names(plugin.entry.module)}
        # Hundreds of jobs need the digests of the same few functions.
        self.reached, self.digest = cache(self._reached_files), cache(self._digest)

    def check(self, call: str) -> None:
        """Raises `ValueError` unless a module of the package has the function `call`, "<module>:<name>"."""
        self.parameters(call)

    def parameters(self, call: str) -> list[str]:
        """The parameters of a function; one with a default ends in =, and those for all other names begin with **."""
        module, _, name = call.partition(":")
        facts = self._facts.get(f"{module.replace('.', '/')}.py")
        if facts is None or name not in facts.functions:
            raise ValueError(f"{call}: no such function")
        return facts.functions[name]

    def source(self, call: str) -> str:
        """The text of a function. Raises `ValueError` if there is no such function."""
        self.check(call)
        module, _, name = call.partition(":")
        text = (self._folder / f"{module.replace('.', '/')}.py").read_text(encoding="utf-8")
        found = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name == name)
        return "\n".join(text.splitlines()[found.lineno - 1 : found.end_lineno])

    def _digest(self, call: str, *modules: str) -> str:
        """The digest of the module of a function and of all modules that it reaches.

        `modules` are further modules that it imports by names known only at run time, such as `package.mine`.
        Raises `InputError` for one that does not exist.
        """
        described = [(file, self._facts[file].digest) for file in self.reached(call, *modules)]
        return hashlib.sha256(json.dumps(described).encode()).hexdigest()[:16]

    def _reached_files(self, call: str, *modules: str) -> tuple[str, ...]:
        """The file of a function and every file of the package that it imports, directly or indirectly, sorted.

        Modules that declare the configuration are left out, unless they are given by name.
        """
        for module in modules:
            if not any(name in self._facts for name in _file_names(module)):
                raise InputError(
                    f"{module}: neither {' nor '.join(self._named)} nor a package with a plug-in has this module, "
                    "which a declaration names as an implementation; correct its name."
                )
        found = self._module_files(call.partition(":")[0], *modules)
        waiting = set(found)
        while waiting:
            waiting |= self._imports[waiting.pop()] - found
            found |= waiting
        given = {name for module in modules for name in _file_names(module)}
        return tuple(sorted(file for file in found if file in given or not self._declares(file)))

    def _declares(self, file: str) -> bool:
        return file in self._declared or any(one.match(file) for one in (OWN, self._declarations))

    def _module_files(self, *modules: str) -> set[str]:
        """The files of modules, by name, and those of the packages that are imported with them."""
        split = (now.split(".") for module in modules for now in self._resolve_name(module))
        packages = {".".join(parts[: count + 1]) for parts in split for count in range(len(parts))}
        return {name for package in packages for name in _file_names(package) if name in self._facts}

    def _resolve_name(self, name: str) -> list[str]:
        """An imported name, and its new names if it has moved: of a module, the new names of all that was in it."""
        name = name.removesuffix(".*")
        module, _, last = name.rpartition(".")
        if name in self._moved:
            return [name, *(new for old, new in self._moved.items() if old == name or old.startswith(f"{name}."))]
        return [name, f"{self._moved[module]}.{last}"] if module in self._moved else [name]


def _file_names(module: str) -> tuple[str, str]:
    """The two names that a module's file may have: it may be a package."""
    path = module.replace(".", "/")
    return f"{path}.py", f"{path}/__init__.py"


def _plugin_files(plugins: Sequence[Plugin]) -> Iterator[tuple[str, File]]:
    """The files of the packages that declare plug-ins, each with the name that it has where packages are installed."""
    for name, plugin in {plugin.package: plugin for plugin in plugins}.items():
        for place in plugin.places():
            if place.is_dir():
                yield from _python_files(str(place), name)
            else:
                yield f"{name}.py", place


def _python_files(folder: str, name: str) -> Iterator[tuple[str, File]]:
    """Each Python file in a folder and below; `name` is the folder's path in the project."""
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                yield f"{name}/{entry.name}", entry
            elif entry.is_dir() and entry.name not in ("tests", "__pycache__"):
                yield from _python_files(entry.path, f"{name}/{entry.name}")


def _update_facts(name: str, file: File, known: list[Any] | None) -> list[Any]:
    """Size, times, inode, checksum and facts of a file; the `known` ones if it has not changed.

    Raises `InputError` if it is not Python.
    """
    place = file_facts(file.stat())
    if known and known[: len(place)] == place:
        return known
    content = Path(file).read_bytes()
    checksum = hashlib.sha256(content).hexdigest()
    if known and known[len(place)] == checksum:
        return [*place, *known[len(place) :]]
    try:
        return [*place, checksum, *facts(content.decode("utf-8"), name)]
    except (SyntaxError, ValueError) as error:
        raise InputError(f"{os.fspath(file)} is not Python: {error}. Correct the file, or remove it.") from None


def _read_cache(kept: Path) -> dict[str, list[Any]]:
    try:
        content = json.loads(kept.read_text(encoding="utf-8"))
        return dict(content["facts"]) if content["by"] == _cache_key() else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _write_cache(found: dict[str, list[Any]], kept: Path) -> None:
    """Writes the facts for the next run; a folder that is not writable is no error."""
    with suppress(OSError, InputError):
        write_text(json.dumps({"by": _cache_key(), "facts": found}), kept)


def facts(source: str, name: str) -> Facts:
    """The facts in the text of the file `name`. Raises `SyntaxError` if it is not Python."""
    tree = ast.parse(source)
    package = name.split("/")[:-1]
    imports = {name for node in _import_statements(tree.body) for name in _imported_names(node, package)}
    lines: list[str] = []
    _add_tree_lines(tree, lines)
    digest = hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]
    return Facts(digest, sorted(imports), dict(_functions(tree)))


def _functions(tree: ast.Module) -> Iterator[tuple[str, list[str]]]:
    """The name and the parameters of each public function of a module."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            positional = [*node.args.posonlyargs, *node.args.args]
            optional = {one.arg for one in positional[len(positional) - len(node.args.defaults) :]}
            optional |= {
                one.arg
                for one, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
                if default is not None
            }
            found = [f"{one.arg}=" if one.arg in optional else one.arg for one in [*positional, *node.args.kwonlyargs]]
            yield node.name, [*found, *([f"**{node.args.kwarg.arg}"] if node.args.kwarg else [])]


def _import_statements(statements: Iterable[ast.AST]) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports among statements and in their blocks, without those that only a type checker reads."""
    for node in statements:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node
        else:
            for block in _BLOCKS[1:] if _is_for_type_checkers(node) else _BLOCKS:
                yield from _import_statements(getattr(node, block, ()))


def _imported_names(node: ast.Import | ast.ImportFrom, package: Sequence[str]) -> Iterator[str]:
    """The modules that a statement of a module in `package` imports, or names in them."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    else:
        above = package[: len(package) + 1 - node.level] if node.level else ()
        module = ".".join([*above, *([node.module] if node.module else [])])
        yield from (f"{module}.{alias.name}" for alias in node.names)


def _add_tree_lines(node: Any, lines: list[str]) -> None:
    """Adds a tree as lines that are the same in every version of Python: unset fields are left out."""
    if isinstance(node, list):
        lines.append("[")
        for item in node:
            if _is_for_type_checkers(item):
                if item.orelse:
                    _add_tree_lines(item.orelse, lines)
            elif not (_is_text(item) or isinstance(item, ast.Pass)):
                _add_tree_lines(item, lines)
        lines.append("]")
    elif isinstance(node, ast.AST):
        lines.append(f"({type(node).__name__}")
        for name in node._fields:
            value = getattr(node, name, None)
            if value is not None and value != [] and name not in WITHOUT_EFFECT:
                lines.append(name)
                _add_tree_lines(value, lines)
        lines.append(")")
    else:
        lines.append(repr(node))


def _is_text(node: Any) -> bool:
    """True if a statement is only text: a docstring, of whatever is above it."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _is_for_type_checkers(node: Any) -> bool:
    return isinstance(node, ast.If) and ast.unparse(node.test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _cache_key() -> list[Any]:
    """The key of cached facts: another version of this file or of Python may find others."""
    status = Path(__file__).stat()
    return [*sys.version_info[:2], status.st_size, status.st_mtime_ns]
