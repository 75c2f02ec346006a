# Functions that download.smk is made with: from wildcards to files and settings.
import re


def sources():
    """Every source by its path below resources/; those of rules of this workflow are not obtained."""
    owned = [(owner, source) for owner, dataset in SETTINGS.datasets.items() for source in dataset.sources.values()]
    owned += [(owner, network.weights) for owner, network in SETTINGS.networks.items()]
    owned += [(owner, vectors.source) for owner, vectors in SETTINGS.word_vectors.items()]
    return {f"{owner}/{source.file}": source for owner, source in owned if source and not source.made_by}


SOURCES = sources()


def any_of(paths):
    """A wildcard constraint: one of these paths, or nothing at all."""
    return "|".join(map(re.escape, paths)) or "(?!)"


def obtainable(wildcards):
    """What decides which bytes come; a corrected licence or note does not."""
    return SOURCES[wildcards.resource].model_dump(
        mode="json", include={"url", "manual", "size", "sha256", "md5", "sha1"}
    )
