"""Whether retrievals were really made with what a table says of them: their own settings, and those of all before them.

A path says which network, proposer or parser a file should be of. What it is of stands in the file, all the way up
(densevse.artifacts.lineage), and a table that says something else is refused.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from densevse.artifacts.lineage import PARENTS, ancestors
from densevse.errors import InputError

FREE = {"local", "precision"}
"""Settings of an entry that say where a file is, or are chosen when a job runs."""


def check_provenance(
    path: str, made_from: Mapping[str, Any], used: Mapping[str, list[str]], entries: Mapping[str, Mapping[str, Any]]
) -> None:
    """Compare what the artifact `path` was made from with what a table says.

    `used` says of each kind of thing (network, proposer, parser, vectors, minimum_word_count) which ones may be among
    its ancestors; `entries` gives the configuration of each one by kind and name.

    Raises `InputError` that names every difference.
    """
    found = [
        difference for way, settings in _before(made_from) for difference in _differences(way, settings, used, entries)
    ]
    if found:
        raise InputError(
            f"{path} was not made with what the table says:\n"
            + "\n".join(f"  {difference}" for difference in dict.fromkeys(found))
            + "\nA file that the configuration names may be missing, so that nothing could be made anew; or the file "
            "is of an earlier run. Put right what is missing, or delete the file, and run snakemake again."
        )


def _before(made_from: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if PARENTS in made_from:
        yield from ancestors(made_from)


def _differences(
    way: str, settings: Mapping[str, Any], used: Mapping[str, list[str]], entries: Mapping[str, Mapping[str, Any]]
) -> Iterator[str]:
    for kind in used.keys() & settings.keys():
        name = str(settings[kind])
        if name not in used[kind]:
            yield f"{kind}: the table says {' or '.join(used[kind]) or 'none'}, found {name} ({way})"
            continue
        entry = entries.get(kind, {}).get(name, {})
        for key in sorted((entry.keys() & settings.keys()) - FREE):
            if entry[key] != settings[key]:
                yield f"{kind} {name}, {key}: the table says {entry[key]}, found {settings[key]} ({way})"
