# Everything that comes from elsewhere, checked. The package's files are no inputs here, as an edit of the code is no
# reason to obtain 13 GB again. Downloads are write-protected: docs/running.md says how to obtain them again on purpose.
# A cluster's nodes often have no internet access, so these rules run where Snakemake does.


rule download:
    output:
        protected("<resources>/{resource}"),
    log:
        "<logs>/download/{resource}.log",
    wildcard_constraints:
        resource=downloads.downloadable(),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        source=configured(downloads.source),
        mirrors=uncompared(downloads.mirrors),
    message:
        "obtaining {wildcards.resource}"
    script:
        "../../scripts/download.py"


rule download_from_hub:
    output:
        protected("<resources>/{resource}"),
    log:
        "<logs>/download_from_hub/{resource}.log",
    wildcard_constraints:
        resource=downloads.on_hub(),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        source=configured(downloads.of_hub),
    message:
        "obtaining {wildcards.resource} from its hub"
    script:
        "../../scripts/download_from_hub.py"


# Fails with instructions for a person.
use rule download as obtain_by_hand with:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/obtain_by_hand/{resource}.log",
    wildcard_constraints:
        resource=downloads.by_hand(),
    message:
        "looking for {wildcards.resource}"


# Copies a file of the project, so that it has the same path wherever the project is installed.
rule unpack:
    output:
        "<resources>/{resource}",
    log:
        "<logs>/unpack/{resource}.log",
    wildcard_constraints:
        resource=downloads.packaged(),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        source=configured(downloads.packed),
    message:
        "unpacking {wildcards.resource}"
    script:
        "../../scripts/unpack.py"
