"""Downloads in the plan: the files that come from elsewhere."""

from collections.abc import Iterable
from typing import Any

from densevse.config.config import Config
from densevse.config.datasets import WordVectors
from densevse.config.proposers import Proposer
from densevse.config.sources import Source, manual_advice
from densevse.dag.fields import DOWNLOADED, ON_HUB, PACKAGED_SOURCE, dump_fields
from densevse.dag.project import Project
from snakeproof.errors import InputError
from snakeproof.paths import Values


def source(project: Project, resource: str) -> dict[str, Any]:
    """The keys that decide the bytes of a file, with the first of its addresses; a corrected licence does not."""
    source = sources_by_path(project.config)[resource]
    if source.hub:
        return {**dump_fields(source, ON_HUB), **({"path": source.path} if source.path else {})}
    if source.packaged:
        return dump_fields(source, PACKAGED_SOURCE)
    return {**dump_fields(source, DOWNLOADED), "url": source.url[0] if source.url else None}


def refuse_missing(project: Project, missing: Iterable[str]) -> None:
    """Refuses a run that needs files which a person has to obtain, those in `missing`, below resources/.

    Raises `InputError` that says how to obtain each.
    """
    known = sources_by_path(project.config)
    each = [manual_advice(f"{project.resources}/{name}", known[name].manual or "") for name in sorted(missing)]
    if each:
        raise InputError("\n\n".join(each))


def mirrors(project: Project, resource: str) -> list[str]:
    """The other addresses of the same bytes."""
    return (sources_by_path(project.config)[resource].url or [])[1:]


def sources_by_path(config: Config) -> dict[str, Source]:
    """Every source by its path below resources/, without those that rules of this workflow make."""
    own = {owner: dataset for owner, dataset in config.datasets.items() if not dataset.resplit}
    owned: list[tuple[str, Source]] = [
        (owner, source) for owner, dataset in own.items() for source in dataset.sources.values()
    ]
    owned += [(owner, network.weights) for owner, network in config.networks.items() if network.weights]
    owned += [
        (owner, network.tokenizer.source)
        for owner, network in config.networks.items()
        if network.tokenizer and network.tokenizer.source
    ]
    owned += [(owner, vectors.source) for owner, vectors in config.word_vectors.items() if vectors.source]
    owned += [(owner, proposer.source) for owner, proposer in config.proposers.items() if proposer.source]
    return {f"{owner}/{source.file}": source for owner, source in owned if not source.made_by}


def entry_file(entry: Proposer | WordVectors) -> str | Values:
    """The file of an entry: the user's own, or the name of its source below resources/<entry>/."""
    return entry.local or {"file": entry.source.file if entry.source else ""}
