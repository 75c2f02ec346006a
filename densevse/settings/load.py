"""Reading config/: files and overrides become one validated `Config`; a variant becomes one plain `Method`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

import yaml
from pydantic import BaseModel, ValidationError

from densevse.errors import InputError
from densevse.settings.model import Config, Method
from densevse.settings.tables import Ensemble

Entry = TypeVar("Entry", bound=BaseModel)

LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # libyaml's where it is there: ten times faster
FOLDERS = ("datasets", "networks", "proposers", "parsers", "word_vectors", "methods", "tables")
CHANGEABLE = (
    "title",
    "views",
    "sentences",
    "networks",
    "word_vectors",
    "parameters",
    "training",
    "phases",
    "rounds",
)


def load(folder: str | Path, overrides: Mapping[str, Any]) -> Config:
    """Read every file below `folder` and merge `overrides` (Snakemake's config) over them.

    Raises `InputError` naming the key's path for a key that does not exist or a value that does not fit.
    """
    entries: dict[str, Any] = {
        name: {path.stem: _read_yaml(path) for path in sorted(Path(folder, name).glob("*.yaml"))} for name in FOLDERS
    }
    config = validate(Config, merge(entries, overrides), "config")
    ensembles(config)
    for dataset in config.datasets:
        for name in variant_names(config):
            variant(config, name, dataset)
    return config


def validate(model: type[Entry], values: Any, where: str) -> Entry:
    """Return `values` as `model`. Raises `InputError` that lists each wrong key with its path."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        lines = [f"  {'.'.join(map(str, e['loc'])) or '(top)'}: {e['msg']}" for e in error.errors()]
        raise InputError(f"{where} is not valid; correct these keys:\n" + "\n".join(lines)) from None


def merge(base: Any, over: Any) -> Any:
    """`over` laid upon `base`: mappings are merged key by key, anything else is replaced."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    both = base.keys() & over.keys()
    return {**base, **over, **{key: merge(base[key], over[key]) for key in both}}


def variant_names(config: Config) -> list[str]:
    """Every row that config/methods can make: each method by its own name, then its variants."""
    names = [name for method, entry in config.methods.items() for name in (method, *entry.variants)]
    all_names = names + [name for entry in config.methods.values() for name in entry.ensembles]
    twice = sorted({name for name in all_names if all_names.count(name) > 1})
    if twice:
        raise InputError(f"config/methods: the names {twice} stand for more than one variant; rename all but one.")
    return names


def ensembles(config: Config) -> dict[str, Ensemble]:
    """Every ensemble of config/methods. Raises `InputError` for a member that is no variant."""
    found = {name: entry for method in config.methods.values() for name, entry in method.ensembles.items()}
    for name, entry in found.items():
        unknown = sorted(set(entry.members) - set(variant_names(config)))
        if unknown:
            raise InputError(f"ensembles.{name}.members: no variants {unknown}; known: {variant_names(config)}")
    return found


def variant(config: Config, name: str, dataset: str) -> Method:
    """A variant as it is trained on a data set, with no variants and no data sets left in it.

    Later differences win: the method's defaults, the data set's, the variant's, the variant's on that data set.

    Raises `InputError` for a name, or a parameter, that the method's file does not have.
    """
    for method, entry in config.methods.items():
        if name != method and name not in entry.variants:
            continue
        own = dict(entry.variants.get(name, {}))
        layers = [(f"methods.{method}.datasets.{dataset}", entry.datasets.get(dataset, {}))]
        on_dataset = own.pop("datasets", {}).get(dataset, {})
        layers += [(f"methods.{method}.variants.{name}", own)]
        layers += [(f"methods.{method}.variants.{name}.datasets.{dataset}", on_dataset)]
        values = entry.model_dump(exclude={"variants", "datasets", "ensembles"})
        for where, layer in layers:
            _check_changes(where, layer, values)
            values = merge(values, layer)
        return validate(Method, values, f"methods.{method} as {name} on {dataset}")
    raise InputError(f"no method or variant {name!r} in config/methods; known: {variant_names(config)}")


def _check_changes(where: str, layer: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    for key in layer:
        if key not in CHANGEABLE:
            raise InputError(f"{where}.{key}: not a key that may differ; these may: {', '.join(CHANGEABLE)}")
    for key in layer.get("parameters", {}):
        if key not in values["parameters"]:
            raise InputError(f"{where}.parameters.{key}: no such parameter; known: {sorted(values['parameters'])}")


def _read_yaml(path: Path) -> Any:
    try:
        return yaml.load(path.read_text(encoding="utf-8"), Loader=LOADER)
    except yaml.YAMLError as error:
        raise InputError(f"{path}: not valid YAML: {error}") from error
