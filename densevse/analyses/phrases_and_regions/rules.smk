# HM-LSTM's figures: the learned correspondences, phrases for regions, and the common space.

from densevse.analyses.phrases_and_regions import dag

analyses.add(dag)


rule correspondences_figure:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        correspondences=path(
            "<results>/{dataset}/models/{variant}/seed{seed}/round{round}/correspondences.parquet",
            training.last_correspondences,
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/{variant}/correspondences.png",
            caption="correspondences.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "learned correspondences"},
        ),
    log:
        "<logs>/correspondences_figure/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(1500),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.phrases_and_regions.figures:draw_correspondences", datasets.figure_job),
    message:
        "drawing the correspondences of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


rule embedding_figures:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        embeddings=path(
            "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/test.parquet", project.last_round
        ),
        image_table="<results>/{dataset}/images.parquet",
    output:
        space=report(
            "<results>/figures/{dataset}/{variant}/embedding.svg",
            caption="embedding.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "the common space"},
        ),
        nearest=report(
            "<results>/figures/{dataset}/{variant}/region_phrases.png",
            caption="region_phrases.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "phrases for regions"},
        ),
    log:
        "<logs>/embedding_figures/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.phrases_and_regions.figures:draw_embeddings", datasets.figure_job),
    message:
        "drawing the common space of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER
