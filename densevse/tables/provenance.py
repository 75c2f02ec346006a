"""Whether retrievals were really made with what a table says of them: their own settings, and those of all before them.

A path says which network, proposer or parser a file should be of. What it is of stands in the file, all the way up
(densevse.artifacts.lineage), and a table that says something else is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from densevse.artifacts.lineage import PARENTS, ancestors
from densevse.runtime.errors import InputError
from densevse.tables.plan import Configured, MadeWith, TrainedWith

MODEL, _GENERATED = "model", "view_generated_captions"  # beyond generated captions are models of others
FREE = {"local", "precision"}
"""Settings of an entry that say where a file is, or are chosen when a job runs."""


def check_provenance(path: str, made_from: Mapping[str, Any], made_with: MadeWith, configured: Configured) -> None:
    """Compare what the artifact `path` was made from with what a table says.

    Raises `InputError` that names every difference, or says that the artifact does not tell what it was made from.
    """
    if PARENTS not in made_from:
        raise InputError(
            f"{path} does not say what it was made from: it is of an earlier version. Delete it and run snakemake "
            "again."
        )
    found = [
        difference
        for way, settings in ancestors(made_from)
        for difference in (
            *_differences(way, settings, made_with.used, configured),
            *_training_differences(way, settings, made_with.trained),
        )
    ]
    if found:
        raise InputError(
            f"{path} was not made with what the table says:\n"
            + "\n".join(f"  {difference}" for difference in dict.fromkeys(found))
            + "\nA file that the configuration names may be missing, so that nothing could be made again; or the file "
            "is of an earlier run. Put right what is missing, or delete the file, and run snakemake again."
        )


def _training_differences(way: str, settings: Mapping[str, Any], trained: TrainedWith | None) -> Iterator[str]:
    """How the settings of a model differ from those that a table says it was trained with."""
    *before, last = way.split("/")
    if last != MODEL or _GENERATED in before or trained is None:
        return
    number = settings["round"]
    said = {**trained.model_dump(), "parameters": trained.parameters[number], "phases": trained.phases[number]}
    for key in sorted(said.keys() & settings.keys()):
        if not _agree(said[key], settings[key]):
            yield f"{key}: the table says {said[key]}, found {settings[key]} ({way})"


def _agree(said: Any, found: Any) -> bool:
    """Whether two settings are equal in all that both name: what only one names was read by no code, or is new."""
    if isinstance(said, Mapping) and isinstance(found, Mapping):
        return all(_agree(said[key], found[key]) for key in said.keys() & found.keys())
    if isinstance(said, list) and isinstance(found, list):
        return len(said) == len(found) and all(map(_agree, said, found))
    return bool(said == found)


def _differences(
    way: str, settings: Mapping[str, Any], used: Mapping[str, list[str]], configured: Configured
) -> Iterator[str]:
    for kind in used.keys() & settings.keys():
        name = str(settings[kind])
        if name not in used[kind]:
            yield f"{kind}: the table says {' or '.join(used[kind]) or 'none'}, found {name} ({way})"
            continue
        entry = configured.settings.get(kind, {}).get(name, {})
        for key in sorted((entry.keys() & settings.keys()) - FREE):
            if not _agree(entry[key], settings[key]):
                yield f"{kind} {name}, {key}: the table says {entry[key]}, found {settings[key]} ({way})"
