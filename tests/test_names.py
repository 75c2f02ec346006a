"""No public class or constant has the name of another, and no module docstring begins with a relative clause."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLUGINS = {"Parameters", "METHOD", "DECLARED", "NAME", "STRUCTURE", "VIEW", "EXTRACTION", "HELP", "PASSES_ON"}
"""Names that modules define for others to find; each such module has its own."""
CODE = ("densevse", "workflow", "tests", "benchmarks", "examples", "docs", "envs")
RELATIVE = ("What ", "Which ", "How ", "Whether ", "Where ", "Who ")
"""First words of a clause that describes a thing instead of naming it."""


def modules(*folders: str) -> Iterator[tuple[str, ast.Module]]:
    """The modules below some folders; those of the package by default."""
    for folder in folders or ("densevse",):
        for path in sorted(path for path in (ROOT / folder).rglob("*.py") if folders or "tests" not in path.parts):
            yield path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))


def constants(module: ast.Module) -> Iterator[tuple[str, str]]:
    """The public names that a module assigns, each with its value as it is written."""
    for node in module.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            names = target.elts if isinstance(target, ast.Tuple) else [target]
            values = node.value.elts if isinstance(target, ast.Tuple) else [node.value]
            for name, value in zip(names, values, strict=True):
                if isinstance(name, ast.Name) and not name.id.startswith("_") and name.id not in PLUGINS:
                    yield name.id, ast.unparse(value)


def test_no_public_class_name_exists_twice():
    found = defaultdict(list)
    for file, module in modules():
        for node in module.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in PLUGINS:
                found[node.name].append(file)
    assert not {name: files for name, files in found.items() if len(files) > 1}


def test_no_public_constant_has_two_values():
    """A constant that only its own module uses begins with an underscore."""
    found = defaultdict(dict)
    for file, module in modules():
        for name, value in constants(module):
            found[name][file] = value
    assert not {name: by_file for name, by_file in found.items() if len(set(by_file.values())) > 1}


def test_no_module_docstring_begins_with_a_relative_clause():
    """Such as "What networks made of images"; "Caches features per image" says what the module does."""
    first = {file: ast.get_docstring(module) or "" for file, module in modules(*CODE)}
    assert not {file: text.splitlines()[0] for file, text in first.items() if text.startswith(RELATIVE)}
