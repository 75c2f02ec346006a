# Everything that comes from elsewhere, checked. The package's files are no inputs here, as an edit of the code is no
# reason to obtain 13 GB again. Downloads are write-protected: docs/running.md says how to obtain them again on purpose.
# A cluster's nodes often have no internet access, so these rules run where Snakemake does.

from densevse.dag.downloads import sources_by_path

obtained = sources_by_path(settings)


rule download:
    output:
        protected("<resources>/{resource}"),
    log:
        "<logs>/download/{resource}.log",
    wildcard_constraints:
        resource=name_pattern(file for file, one in obtained.items() if one.url),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling_once("densevse.datasets.download:download"),
        source=from_wildcards(downloads.source),
        mirrors=uncompared_param(downloads.mirrors),
    message:
        "obtaining {wildcards.resource}"
    script:
        RUNNER


rule download_from_hub:
    output:
        protected("<resources>/{resource}"),
    log:
        "<logs>/download_from_hub/{resource}.log",
    wildcard_constraints:
        resource=name_pattern(file for file, one in obtained.items() if one.hub),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling_once("densevse.datasets.download:download_from_hub"),
        source=from_wildcards(downloads.source),
    message:
        "obtaining {wildcards.resource} from its hub"
    script:
        RUNNER


# Is planned for a file that a person has to obtain, and makes the run stop before its first job (runs.smk).
use rule download as obtain_by_hand with:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/obtain_by_hand/{resource}.log",
    wildcard_constraints:
        resource=name_pattern(file for file, one in obtained.items() if one.manual),
    message:
        "looking for {wildcards.resource}"


# Copies a file of the project, so that it has the same path wherever the project is installed.
rule unpack:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/unpack/{resource}.log",
    wildcard_constraints:
        resource=name_pattern(file for file, one in obtained.items() if one.packaged),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling_once("densevse.datasets.download:unpack"),
        source=from_wildcards(downloads.source),
    message:
        "unpacking {wildcards.resource}"
    script:
        RUNNER
