# Vector arithmetic with images and words (Kiros et al. 2014): image - word + word.

from densevse.analyses.arithmetic.settings import ArithmeticSettings

arithmetic = settings.analysis(ArithmeticSettings)


rule arithmetic:
    input:
        embeddings="<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/test.parquet",
        boxes=path(
            "<results>/{dataset}/boxes.parquet",
            when=lambda dataset: arithmetic.dataset_entry(dataset).exchanged,
        ),
    output:
        "<results>/{dataset}/arithmetic/{variant}/seed{seed}/round{round}/test.parquet",
    log:
        "<logs>/arithmetic/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling(
            "densevse.analyses.arithmetic.arithmetic:write_arithmetic",
            lambda dataset: Job(
                {
                    "exchanged": arithmetic.dataset_entry(dataset).exchanged,
                    "named": arithmetic.dataset_entry(dataset).queries,
                }
            ),
        ),
    message:
        "images minus a word plus a word: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule arithmetic_table:
    input:
        found=path("<results>/{dataset}/arithmetic/{variant}/seed{seed}/round{round}/test.parquet", project.last_round),
        image_table="<results>/{dataset}/images.parquet",
    output:
        **table_pages(
            "<results>/tables/{dataset}_arithmetic_{variant}",
            "arithmetic.rst",
            table="vector arithmetic, {variant} on {dataset}",
        ),
        parquet="<results>/tables/{dataset}_arithmetic_{variant}.parquet",
    log:
        "<logs>/arithmetic_table/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1000),
        runtime=growing(10),
    params:
        **calling(
            "densevse.analyses.arithmetic.arithmetic:write_table",
            lambda dataset, variant: Job(
                {
                    "title": f"Vector arithmetic: {project.variant(dataset, variant).title} "
                    f"on {project.datasets[dataset].title}"
                }
            ),
        ),
    message:
        "writing the table of vector arithmetic: {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


rule arithmetic_figure:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        found=path("<results>/{dataset}/arithmetic/{variant}/seed{seed}/round{round}/test.parquet", project.last_round),
        image_table="<results>/{dataset}/images.parquet",
    output:
        report(
            "<results>/figures/{dataset}/{variant}/arithmetic.png",
            caption="arithmetic.rst",
            category="Vector arithmetic",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        "<logs>/arithmetic_figure/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.arithmetic.arithmetic:draw_arithmetic", datasets.figure_job),
    message:
        "drawing vector arithmetic: {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER
