# Everything that comes from elsewhere, checked. The package's files are no input here: an edit of the code is no
# reason to obtain 13 GB again. A cluster's nodes often have no way out of it, so these run where Snakemake does.


rule download:
    output:
        f"{RESOURCES}/{{resource}}",
    log:
        f"{RESULTS}/logs/download/{{resource}}.log",
    wildcard_constraints:
        resource=any_of(path for path, source in SOURCES.items() if source.url),
    retries: 3
    localrule: True
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
