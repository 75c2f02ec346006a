# Everything that comes from elsewhere, checked. The package's files are no input here: an edit of the code is no
# reason to obtain 13 GB again. A cluster's nodes often have no way out of it, so these run where Snakemake does.


rule download:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/download/{resource}.log",
    wildcard_constraints:
        resource=downloads.downloadable(),
    localrule: True
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        source=downloads.source,
    message:
        "obtaining {wildcards.resource}"
    script:
        "../scripts/download.py"


# Fails with what a person must do.
rule obtain_by_hand:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/obtain_by_hand/{resource}.log",
    wildcard_constraints:
        resource=downloads.by_hand(),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        source=downloads.source,
    message:
        "looking for {wildcards.resource}"
    script:
        "../scripts/download.py"


# Is only planned for a path of the configuration that is not there, and never runs: see densevse/plan/own_files.py.
rule absent:
    output:
        "{absent}",
    wildcard_constraints:
        absent=own_files.absent(),
    localrule: True
    conda:
        "../../envs/base.yaml"
    params:
        refusal=own_files.refuse,
    message:
        "looking for {wildcards.absent}"
