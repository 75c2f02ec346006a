# A path of the configuration that is not there. This is included last, as it asks which paths the rules before it make.

tables.check_names(makers.of)


# Is planned where a target needs such a path, and never runs: see densevse/dag/own_files.py.
rule absent:
    output:
        "{absent}",
    wildcard_constraints:
        absent=own_files.absent(makers.of),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    params:
        refusal=configured(own_files.refuse),
    message:
        "looking for {wildcards.absent}"
