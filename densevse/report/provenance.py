"""Checks that retrievals were made with the settings that a table states, their own and those of all their inputs.

A path names the network, proposer or parser that a file should be of. The file's lineage (densevse.artifacts.lineage)
records what it was really made from, through all stages. A table that states something else is refused.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from densevse.artifacts.lineage import DIGESTS, PARENTS, agree, ancestors
from densevse.report.plan import Configured, MeasuredVariant
from densevse.runtime.errors import InputError

MODEL, _GENERATED = "model", "view_generated_captions"  # the models before generated captions are others'
_READ = ("images.parquet", "captions.parquet")
FREE = {"local"}
"""Settings of an entry that give a file's place."""


def check_provenance(path: str, made_from: Mapping[str, Any], row: MeasuredVariant, configured: Configured) -> None:
    """Compares the lineage of the artifact `path` with what a table states of its row.

    Raises `InputError` that names every difference, or that the artifact has no lineage.
    """
    if PARENTS not in made_from:
        raise InputError(
            f"{path} has no record of its inputs, as it is of an earlier version. Delete it and run snakemake again."
        )
    found = [
        difference
        for way, settings in ancestors(made_from)
        for difference in (
            *_differences(way, settings, row.used, configured),
            *_training_differences(way, settings, row.trained),
        )
    ]
    found += _reading_differences(made_from, configured.get("dataset", {}))
    if found:
        raise InputError(
            f"{path} was not made with the settings of the table:\n"
            + "\n".join(f"  {difference}" for difference in dict.fromkeys(found))
            + "\nA file that the configuration names may be missing, so that no file could be made again; or this file "
            "is of an earlier run. Restore the missing file, or delete this one, and run snakemake again."
        )


def _reading_differences(made_from: Mapping[str, Any], stated: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The differences between the settings of data sets in a table and those with which they were read or drawn."""
    for parent in made_from.get(PARENTS, {}).values():
        for file in parent.get(DIGESTS, {}):
            dataset, _, name = file.partition("/")
            said = stated.get(dataset, {}) if name in _READ else {}
            for key in sorted(said.keys() & parent.keys()):
                if said[key] != parent[key]:
                    yield f"datasets.{dataset}, {key}: the table says {said[key]}, found {parent[key]} ({file})"
        yield from _reading_differences(parent, stated)


def _training_differences(way: str, settings: Mapping[str, Any], trained: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The differences between the settings of a model and those of its round's training in a table."""
    *before, last = way.split("/")
    if last != MODEL or _GENERATED in before or not trained:
        return
    said = trained[settings["round"]]
    for key in sorted(said.keys() & settings.keys()):
        if not agree(said[key], settings[key]):
            yield f"{key}: the table says {said[key]}, found {settings[key]} ({way})"


def _same(key: str, said: Any, found: Any) -> bool:
    """The same of a key: of digests the plan has the first digits."""
    return str(found).startswith(said) if key == "weights_sha256" else agree(said, found)


def _differences(
    way: str, settings: Mapping[str, Any], used: Mapping[str, list[str]], configured: Configured
) -> Iterator[str]:
    for kind in used.keys() & settings.keys():
        name = str(settings[kind])
        if name not in used[kind]:
            yield f"{kind}: the table says {' or '.join(used[kind]) or 'none'}, found {name} ({way})"
            continue
        entry = configured.get(kind, {}).get(name, {})
        for key in sorted((entry.keys() & settings.keys()) - FREE):
            if not _same(key, entry[key], settings[key]):
                yield f"{kind} {name}, {key}: the table says {entry[key]}, found {settings[key]} ({way})"
