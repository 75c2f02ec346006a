# Tables of results, one for each entry of config/tables, from retrieval artifacts only; and tables of the rounds of
# methods that learn correspondences.


rule table:
    input:
        images=path("<results>/{dataset}/images.parquet", tables.section_datasets),
        captions=path("<results>/{dataset}/captions.parquet", tables.image_section_datasets),
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet", tables.retrievals
        ),
        published=path("<project>/config/published/{paper}.csv", tables.papers),
        papers=path("<project>/config/published/{paper}.yaml", tables.papers),
    output:
        **table_files("<results>/tables/{table}", "../../report/table.rst", table="{table}"),
    log:
        "<logs>/table/{table}.log",
    wildcard_constraints:
        table=name_pattern(tables.names()),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.report.results:make_table", tables.table_job),
        contents=contents_of_each(
            published=("<project>/config/published/{paper}.csv", tables.papers),
            papers=("<project>/config/published/{paper}.yaml", tables.papers),
        ),
    message:
        "writing the table {wildcards.table}"
    script:
        RUNNER


rule gains:
    input:
        results=rules.table.output.parquet,
    output:
        report(
            "<results>/figures/{table}_gains.svg",
            caption="../../report/gains.rst",
            category="Tables",
            labels={"table": "{table}: gains"},
        ),
    log:
        "<logs>/gains/{table}.log",
    wildcard_constraints:
        table=name_pattern(tables.gain_tables()),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.report.gains:draw_gains", tables.gains_job),
    message:
        "drawing the gains in the table {wildcards.table}"
    script:
        RUNNER


rule table_of_rounds:
    input:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            tables.retrievals_of_rounds,
        ),
        accuracies=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondence_accuracy.parquet",
            tables.accuracies_of_rounds,
        ),
    output:
        **table_files("<results>/tables/{dataset}_rounds", "../../report/rounds.rst", table="{dataset}, rounds"),
    log:
        "<logs>/table_of_rounds/{dataset}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling("densevse.report.rounds:make_rounds", tables.rounds_job),
    message:
        "writing the table of rounds on {wildcards.dataset}"
    script:
        RUNNER
