# A target for everything of a data set: its tables, and the files of its analyses.


def everything_of(dataset):
    """The files of a data set, by their names in the configuration's folders, wherever copies of them lie."""
    return sorted(values["file"] for values in [*tables.listed(dataset), *analyses.listed(dataset)])


rule everything:
    input:
        tables=filled("{file}", tables.listed),
        analyses=filled("{file}", analyses.listed),
    output:
        "<results>/{dataset}.done",
    log:
        "<logs>/everything/{dataset}.log",
    wildcard_constraints:
        dataset=any_of(settings.datasets),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        code=code_of("everything.py"),
        title=configured(tables.title),
        files=configured(everything_of),
    message:
        "everything of {wildcards.dataset} is made"
    script:
        "../../scripts/everything.py"
