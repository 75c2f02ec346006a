# Everything that comes from elsewhere, checked. The package's files are no input here: an edit of the code is no
# reason to obtain 13 GB again.
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


rule download:
    output:
        f"{RESOURCES}/{{resource}}",
    log:
        f"{RESULTS}/logs/download/{{resource}}.log",
    wildcard_constraints:
        resource=any_of(path for path, source in SOURCES.items() if source.url),
    retries: 3
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        source=obtainable,
    script:
        "../scripts/download.py"


# Fails with what a person must do. Trying again would not help, so it has no retries.
rule obtain_by_hand:
    output:
        f"{RESOURCES}/{{resource}}",
    log:
        f"{RESULTS}/logs/obtain_by_hand/{{resource}}.log",
    wildcard_constraints:
        resource=any_of(path for path, source in SOURCES.items() if source.manual),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        source=obtainable,
    script:
        "../scripts/download.py"
