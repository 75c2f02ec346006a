# Pictures of queries with the answers that methods rank first.

from densevse.analyses.examples import dag

examples = analyses.add(dag)


rule compared_retrievals:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            examples.compared_retrievals,
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/sco_comparison.png",
            caption="compared_retrievals.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "SCO, compared"},
        ),
    log:
        "<logs>/compared_retrievals/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.examples.examples:draw_comparison", examples.comparison_job),
    message:
        "drawing the answers of the variants of SCO on {wildcards.dataset}"
    script:
        RUNNER


rule one_query:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        retrievals=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            examples.main_retrievals,
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/one_query.png",
            caption="one_query.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "all, compared"},
        ),
    log:
        "<logs>/one_query/{dataset}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.examples.examples:draw_one_query", examples.one_query_job),
    message:
        "drawing the answers of every method to one sentence of {wildcards.dataset}"
    script:
        RUNNER


rule example_retrievals:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        retrieval=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            tables.last_retrieval,
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/examples/{variant}.png",
            caption="examples.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        "<logs>/example_retrievals/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.examples.examples:draw_examples", datasets.figure_job),
    message:
        "drawing the answers of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER
