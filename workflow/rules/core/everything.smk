# A target for everything of a data set: its tables, and the files of its analyses.


rule everything:
    input:
        made=path("{file}", analyses.target_values),
    output:
        "<results>/{dataset}.done",
    log:
        "<logs>/everything/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(settings.datasets),
    localrule: True
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=500,
    params:
        **calling("densevse.report.start_page:write_list", analyses.listing_job),
    message:
        "everything of {wildcards.dataset} is made"
    script:
        RUNNER
