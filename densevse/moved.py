"""The names of modules, and of what is in them, that have moved: where they are now, and how the old ones still work.

The first import of an old module makes one with all that was in it, and gives a `DeprecationWarning` that names the new
places. docs/api.md says how long an old name stays.
"""

import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any
from warnings import warn

_VALUES = "Count DatasetKey DatasetName Length RankedSentences Seed Seeds Split VariantKey VariantName"
_PLACES = (
    ("artifacts", "snakeproof", "adoption files pages schema seals statements store unchanged"),
    ("artifacts.schema", "densevse.artifacts.columns", "BOX_COLUMNS CAPTION_ID IMAGE_ID SPLIT"),
    ("config", "snakeproof", "plugins strict yaml_files"),
    ("config.plugins", "densevse.config.groups", "ARCHITECTURES GROUPS METHODS READERS WATCHERS"),
    ("config.strict", "densevse.config.values", _VALUES),
    ("dag", "snakeproof", "adoption bucket code contents dates jobs options paths records run_lock signals unchanged"),
    ("runtime", "snakeproof", "errors logs"),
)
"""The old place of some names, below densevse; the new place; and the names, which are the same."""
MOVED = {f"densevse.{old}.{name}": f"{new}.{name}" for old, new, names in _PLACES for name in names.split()} | {
    "densevse.artifacts.schema.identity": "densevse.artifacts.identity.read_identity",
    "densevse.runtime.aside": "snakeproof.unchanged",
}
"""Old name -> new name: of modules, and of what is elsewhere than in the module that its old one has become."""
OLD_CALLS = {"densevse.artifacts.store.FeatureWriter": "densevse.artifacts.older.FeatureWriter"}
"""Old name -> what takes the parameters that it had."""


class _OldNames:
    """Makes the modules with old names. Python asks it only for what is nowhere else."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        loader: Any = self
        return ModuleSpec(name, loader) if name in MOVED else None

    def create_module(self, spec: ModuleSpec) -> None:
        """None: a module of Python's usual kind."""

    def exec_module(self, module: ModuleType) -> None:
        old, new = module.__name__, MOVED[module.__name__]
        others = _inside(old, MOVED)
        places = [place.rsplit(".", 1) for place in others.values()]
        has = {where: ", ".join(name for place, name in places if place == where) for where, _ in places}
        elsewhere = "".join(f"; {where} has its {names}" for where, names in has.items())
        warn(f"{old} is now {new}{elsewhere}", DeprecationWarning, stacklevel=2)
        found = {name: value for name, value in vars(import_module(new)).items() if not name.startswith("_")}
        for name, place in {**others, **_inside(old, OLD_CALLS)}.items():
            where, now = place.rsplit(".", 1)
            found[name] = getattr(import_module(where), now)
        vars(module).update(found)


def _inside(module: str, table: Mapping[str, str]) -> dict[str, str]:
    """The entries of a table that are in a module: name there -> new name."""
    return {old.removeprefix(f"{module}."): new for old, new in table.items() if old.startswith(f"{module}.")}


def install() -> None:
    """Lets Python import old names."""
    sys.meta_path.append(_OldNames())
