# The number of relations between words, beside those that DeFrag prints.


rule relation_table:
    input:
        enhanced="<results>/{dataset}/vocabulary/fragments-enhanced.parquet",
        basic="<results>/{dataset}/vocabulary/fragments-basic.parquet",
        published=path("<package>/analyses/relation_counts/published/defrag.csv"),
    output:
        **table_pages("<results>/tables/{dataset}_relations", "relations.rst", table="relations of {dataset}"),
    log:
        "<logs>/relation_table/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.relation_counts.table:write_table",
            lambda dataset: Job({"title": project.datasets[dataset].title}),
        ),
        contents=contents_of("<package>/analyses/relation_counts/published/defrag.csv"),
    message:
        "writing the table of the relations between words of {wildcards.dataset}"
    script:
        RUNNER
