# A target for everything of a data set: its tables, and the files of its analyses.


rule everything:
    input:
        tables=path("{file}", tables.listed),
        analyses=path("{file}", analyses.listed),
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
        **calling("densevse.report.start_page:write_list", analyses.list_with(tables)),
    message:
        "everything of {wildcards.dataset} is made"
    script:
        RUNNER
