"""Reads config/: files and overrides become one validated `Config`, and a variant becomes one plain `Method`."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from difflib import get_close_matches
from graphlib import CycleError, TopologicalSorter
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import BaseModel, ValidationError

from densevse.config.analyses import FOLDER, Entries, entry_type, settings_of_analyses
from densevse.config.config import Config, config_type
from densevse.config.methods import GeneratorConfig, MethodConfig
from densevse.config.values import DatasetName, VariantName
from snakeproof.errors import InputError
from snakeproof.strict import Entry, error_line, list_known_names, suggest_name, validation_error, wrong_keys
from snakeproof.yaml_files import read_yaml

Layer = tuple[str, Mapping[str, Any]]
Kind = Literal["methods", "generators"]
Model = tuple[Kind, str]  # kind and name of a variant in config/methods or config/generators
Needs = dict[str, Model]  # for each model, those that must be trained before it, by the keys that name them

ANALYSES = "densevse/analyses"
FOLDERS = (
    "datasets",
    "networks",
    "concept_networks",
    "proposers",
    "parsers",
    "word_vectors",
    "methods",
    "generators",
    "tables",
)


def load(folder: str | Path, overrides: Mapping[str, Any]) -> Config:
    """Reads every file below `folder` and merges `overrides` (Snakemake's config) over them.

    Raises `InputError` that names the path of each unknown key or invalid value. Every variant is checked on every data
    set.
    """
    _check_old_places(Path(folder))
    core, of_analyses = {name: _read_entries(Path(folder, name)) for name in FOLDERS}, _read_analyses()
    _check_new_entries(core, "config/{}", overrides)
    _check_new_entries(of_analyses, f"{ANALYSES}/{{}}", overrides)
    values = merge({**core, **of_analyses}, overrides)
    config = _validate(_fill_resplits(_expand_results(values)))
    for folder in ("methods", "generators", "networks", "concept_networks"):
        for name, entry in values[folder].items():
            for one, stated in ((core[folder].get(name, {}), {}), (entry, core[folder].get(name, {}))):
                _check_phases(f"{folder}.{name}", one, stated)
    found: dict[Hashable, Needs] = {}
    for dataset in config.datasets:
        _check_order(config, dataset, found)
    return config


def _validate(values: dict[str, Any]) -> Config:
    """Validates the configuration. Raises `InputError` that names each wrong key once, also if resplits inherit it."""
    try:
        return config_type().model_validate(values)
    except ValidationError as error:
        wrong = {(*path, message): error_line(path, message) for path, message in wrong_keys(error)}
        for name, of in _resplits(values["datasets"]).items():
            for _, _, *rest in [key for key in wrong if key[:2] == ("datasets", of)]:
                wrong.pop(("datasets", name, *rest), None)
        raise validation_error("the configuration", [*wrong.values()]) from None


def _resplits(datasets: Any) -> dict[str, Any]:
    """The data sets with new splits, each with the name of the one whose images it divides."""
    entries = datasets.items() if isinstance(datasets, Mapping) else ()
    resplits = {name: entry.get("resplit") for name, entry in entries if isinstance(entry, Mapping)}
    return {name: resplit.get("of") for name, resplit in resplits.items() if isinstance(resplit, Mapping)}


def _expand_results(values: dict[str, Any]) -> Any:
    """Replaces a leading `<results>/` in each text by the folder of results, as rules do."""
    results = values.get("results", Config.model_fields["results"].default)

    def expand(value: Any) -> Any:
        if isinstance(value, Mapping):
            return {key: expand(each) for key, each in value.items()}
        if isinstance(value, list):
            return [expand(each) for each in value]
        is_below = isinstance(value, str) and value.startswith("<results>/")
        return f"{results}/{value.removeprefix('<results>/')}" if is_below else value

    return expand(values)


def _fill_resplits(values: dict[str, Any]) -> dict[str, Any]:
    """Fills in each data set with new splits the keys of the data set whose images it divides.

    Raises `InputError` if there is no such data set, or its own splits are new.
    """
    datasets, resplits = values["datasets"], _resplits(values["datasets"])
    for name, of in resplits.items():
        known = [other for other in datasets if other not in resplits]
        if of not in known:
            raise InputError(
                f"datasets.{name}.resplit.of: no data set {of!r} with splits of its own; known: {', '.join(known)}"
                f"{suggest_name(str(of), known)}"
            )
    whole = {name: merge(datasets[of], datasets[name]) for name, of in resplits.items()}
    return {**values, "datasets": {**datasets, **whole}} if resplits else values


def _read_entries(folder: Path) -> dict[str, Any]:
    """The entries of a folder below config/. Raises `InputError` for a file whose ending would be ignored."""
    for path in folder.glob("*.yml"):
        raise InputError(f"{path}: entries are read from files that end in .yaml; rename it to {path.stem}.yaml.")
    return {path.stem: read_yaml(path) for path in sorted(folder.glob("*.yaml"))}


def _read_analyses() -> dict[str, Any]:
    """The project's settings of each analysis that has any: its settings.yaml, or its entries."""
    found = {}
    for name in settings_of_analyses():
        file, entries = FOLDER / name / "settings.yaml", FOLDER / name / "entries"
        if file.is_file() or entries.is_dir():
            found[name] = read_yaml(file) if file.is_file() else _read_entries(entries)
    return found


def _check_old_places(folder: Path) -> None:
    """Raises `InputError` for settings of analyses where earlier versions had them, as they would be ignored."""
    for old in (folder / "analyses", *(folder / name for name in settings_of_analyses())):
        for path in sorted(old.glob("*.yaml")):
            name, file = (path.stem, "settings.yaml") if old.name == "analyses" else (old.name, f"entries/{path.name}")
            raise InputError(
                f"{path}: settings of an analysis are in its folder now; move them to {ANALYSES}/{name}/{file}, or "
                "name them in a --configfile."
            )


def _check_new_entries(entries: Mapping[str, Mapping[str, Any]], place: str, overrides: Mapping[str, Any]) -> None:
    """Raises `InputError` for a new entry that lacks keys: most likely its name is misspelt.

    `place` is the place of entries of a kind `{}`.
    """
    for folder, known in entries.items():
        kinds = [[key for key, of in kind.model_fields.items() if of.is_required()] for kind in _entry_types(folder)]
        kinds += [["title", "resplit"]] if folder == "datasets" else []
        if not kinds or not all(kinds):
            continue
        given = overrides.get(folder)
        for name, entry in given.items() if isinstance(given, Mapping) else ():
            if name not in known and (lacked := _missing_keys(entry, kinds)):
                raise InputError(
                    f"{folder}.{name}: there is no {name!r} in {place.format(folder)}, and a new one needs the keys "
                    f"{', or '.join(', '.join(keys) for keys in kinds)}{list_known_names(str(name), known)}{lacked}"
                )


def _check_phases(where: str, entry: Mapping[str, Any], stated: Mapping[str, Any]) -> None:
    """Raises `InputError` for a phase that no round names and that changes none of the entry's: it is misspelt.

    Phases that the entry's file has `stated` may be in no round, as a person's rounds cannot remove them.
    """
    groups = _group_layers(entry)
    before = {keys: layer for layers in _group_layers(stated) for keys, layer in layers.items()}
    for layers in groups:
        for keys, layer in layers.items():
            naming = (groups[0], layers) if keys else groups if entry.get("rounds") else ()
            known = {name for group in naming for one in group.values() for name in chain(*(one.get("rounds") or []))}
            known |= {*(before.get(keys, {}).get("phases") or {})}
            if keys or not (stated or entry.get("rounds")):
                known |= {*(entry.get("phases") or {})}
            for name in sorted({*(layer.get("phases") or {})} - known):
                raise InputError(
                    f"{'.'.join([where, *keys])}.phases.{name}: no round names this phase; to add one, write `rounds` "
                    f"beside it that name it, or make an entry of your own{list_known_names(name, known)}"
                )


def _group_layers(entry: Mapping[str, Any]) -> list[dict[tuple[str, ...], Mapping[str, Any]]]:
    """The values of an entry, then of each variant, each with its changes on data sets, by their keys."""
    variants = {("variants", name): one for name, one in (entry.get("variants") or {}).items()}
    return [
        {keys: one, **{(*keys, "datasets", name): layer for name, layer in (one.get("datasets") or {}).items()}}
        for keys, one in ({(): entry} | variants).items()
    ]


def _missing_keys(entry: Any, kinds: Sequence[Sequence[str]]) -> str:
    """The keys that an entry lacks to be of the kind that it resembles, as part of a message; empty if it is of one."""
    given = [str(key) for key in entry] if isinstance(entry, Mapping) else []
    lacked = min(([key for key in keys if key not in given] for keys in kinds), key=len)
    similar = {key: f" (is it {found[0]!r}?)" for key in lacked if (found := get_close_matches(key, given, 1))}
    return f"; it lacks {', '.join(key + similar.get(key, '') for key in lacked)}" if lacked else ""


def _entry_types(folder: str) -> list[type[BaseModel]]:
    """The types of the entries below a top-level key; empty if it holds no entries by name."""
    analysis = settings_of_analyses().get(folder)
    if analysis is not None:
        return [entry_type(analysis)] if issubclass(analysis, Entries) else []
    field = Config.model_fields.get(folder)
    return _union_types(get_args(field.annotation)[1]) if field else []


def _union_types(annotation: Any) -> list[type[BaseModel]]:
    """A type, or those of a union, in order."""
    if isinstance(annotation, type):
        return [annotation]
    return [kind for part in get_args(annotation) for kind in _union_types(part)]


def _check_order(config: Config, dataset: DatasetName, found: dict[Hashable, Needs]) -> None:
    """Raises `InputError` for an invalid model, or for models that need each other in a circle.

    `found` keeps the needs for the next data set, as few models differ between data sets.
    """
    models: list[Model] = [("methods", name) for name in config.variant_names()]
    models += [("generators", name) for name in config.generator_names()]
    needs = {}
    for model in models:
        made_of = (model, *(place for place, _ in _find_entries(*model, config, dataset)))
        if made_of not in found:
            found[made_of] = _needs(config, model, dataset)
        needs[model] = found[made_of]
    try:
        TopologicalSorter({model: needed.values() for model, needed in needs.items()}).prepare()
    except CycleError as error:
        circle: list[Model] = error.args[1][::-1]
        keys = [
            _place([key], find_layers(*model, config, dataset))
            for model, other in pairwise(circle)
            for key, needed in needs[model].items()
            if needed == other
        ]
        raise InputError(
            f"{' and '.join(dict.fromkeys(keys))}: on {dataset} {circle[0][1]} needs "
            f"{', which needs '.join(name for _, name in circle[1:])}; name another, so that one can be trained first."
        ) from None


def _needs(config: Config, model: Model, dataset: DatasetName) -> Needs:
    """The models that must be trained before one of config/methods or config/generators."""
    kind, name = model
    if kind == "generators":
        variant_of = generator(config, dataset, name).joint_embedding
        return {"joint_embedding": ("methods", variant_of)} if variant_of else {}
    method = variant(config, dataset, name)
    needs: Needs = {}
    if method.starts_from:
        needs["starts_from"] = ("methods", method.starts_from)
    if method.generator:
        needs["generator"] = ("generators", method.generator)
    return needs


def merge(base: Any, over: Any) -> Any:
    """Merges `over` into `base`: mappings key by key; anything else is replaced."""
    if not (isinstance(base, Mapping) and isinstance(over, Mapping)):
        return over
    both = base.keys() & over.keys()
    return {**base, **over, **{key: merge(base[key], over[key]) for key in both}}


def variant(config: Config, dataset: str | None, name: str) -> MethodConfig:
    """A variant as it is trained on a data set, with all variants and data sets merged in.

    Later values win: the method's own, the data set's, the variant's, the variant's on that data set. Without a data
    set the result is the paper's method, as far as the paper describes it, without changes for any data. Raises
    `InputError` for an unknown name, or for an invalid value, by its path.
    """
    layers = find_layers("methods", name, config, dataset)
    return _resolve_entry(MethodConfig, layers, config.check_variant, f"{name} on {dataset}" if dataset else name)


def generator(config: Config, dataset: str | None, name: str) -> GeneratorConfig:
    """A generator, or a variant of one, as it is trained on a data set; see `variant`."""
    layers = find_layers("generators", name, config, dataset)
    return _resolve_entry(GeneratorConfig, layers, config.check_generator, f"{name} on {dataset}" if dataset else name)


def find_layers(kind: Kind, name: str, config: Config, dataset: str | None) -> list[tuple[str, dict[str, Any]]]:
    """The changes that make a variant on a data set, in order, each with the path of its keys.

    Raises `InputError` for an unknown name.
    """
    return [(place, _stated_values(layer)) for place, layer in _find_entries(kind, name, config, dataset)]


def _find_entries(kind: Kind, name: str, config: Config, dataset: str | None) -> list[tuple[str, BaseModel]]:
    """The same, as they are in the configuration."""
    entries = config.method_entries().items() if kind == "methods" else config.generators.items()
    for owner, entry in entries:
        if name == owner or name in entry.variants:
            where, own = f"{kind}.{owner}", entry.variants.get(VariantName(name))
            on = config.dataset_lineage(DatasetName(dataset) if dataset else None)
            layers = [(where, entry), *((f"{where}.datasets.{each}", entry.datasets.get(each)) for each in on)]
            if own:
                where += f".variants.{name}"
                layers += [(where, own), *((f"{where}.datasets.{each}", own.datasets.get(each)) for each in on)]
            return [(place, layer) for place, layer in layers if layer]
    known = [known for owner, entry in entries for known in (owner, *entry.variants)]
    raise InputError(f"no {name!r} in config/{kind}; known: {known}{suggest_name(name, known)}")


def _stated_values(entry: BaseModel) -> dict[str, Any]:
    return entry.model_dump(exclude_unset=True, exclude={"variants", "datasets", "ensembles"})


def _resolve_entry(kind: type[Entry], layers: Sequence[Layer], check: Callable[[str, Entry], None], what: str) -> Entry:
    """The entry that results from layers of changes; `check` validates it against the rest of the configuration."""
    values: Any = {}
    for _, layer in layers:
        values = merge(values, layer)
    try:
        entry = kind.model_validate(values)
        check("", entry)
    except ValidationError as error:
        wrong = [f"{_place(path, layers)}: {message}" for path, message in wrong_keys(error)]
        raise validation_error(what, wrong) from None
    except ValueError as error:  # its message begins with the path of the wrong key
        key, message = str(error).removeprefix(".").split(": ", 1)
        raise validation_error(what, [f"{_place(key.split('.'), layers)}: {message}"]) from None
    return entry


def _place(path: Sequence[str], layers: Sequence[Layer]) -> str:
    """The path of a key in the last layer that has it."""
    for where, layer in reversed(layers):
        value: Any = layer
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        if value is not None:
            return ".".join([where, *path])
    return ".".join([layers[0][0], *path])
