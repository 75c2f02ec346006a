# DeFrag's alignments of regions with triplets (section 4.3): as artifacts, against true boxes, and in Figures 4 and 5.

from densevse.analyses.alignments import dag

alignments = analyses.add(dag)


rule align:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
        retrieval=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            lambda dataset, variant, seed, round: {
                "protocol": tables.first_protocol(dataset),
                **project.variant_round(dataset, variant, seed, round),
            },
        ),
    output:
        alignments="<results>/{dataset}/alignments/{variant}/seed{seed}/round{round}/test.parquet",
        regions="<results>/{dataset}/alignments/{variant}/seed{seed}/round{round}/triplet_regions.parquet",
    log:
        "<logs>/align/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(8000),
    params:
        **calling("densevse.analyses.alignments.aligning:write_alignments", alignments.job),
    message:
        "aligning regions with triplets: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule alignment_accuracy:
    input:
        alignments=rules.align.output.alignments,
        boxes="<results>/{dataset}/boxes.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
        regions=path("<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet", training.regions),
    output:
        "<results>/{dataset}/alignments/{variant}/seed{seed}/round{round}/accuracy.parquet",
    log:
        "<logs>/alignment_accuracy/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(20),
    params:
        **calling("densevse.analyses.alignments.alignments:write_alignment_accuracy"),
    message:
        "checking alignments: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule alignment_figures:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        alignments=path(
            "<results>/{dataset}/alignments/{variant}/seed{seed}/round{round}/test.parquet", project.last_round
        ),
        triplet_regions=path(
            "<results>/{dataset}/alignments/{variant}/seed{seed}/round{round}/triplet_regions.parquet",
            project.last_round,
        ),
        retrieval=path(
            "<results>/{dataset}/retrieval/{protocol}/{variant}/seed{seed}/round{round}.parquet",
            tables.last_retrieval,
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        sentences=report(
            "<results>/figures/{dataset}/{variant}/alignments.png",
            caption="alignments.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "aligned triplets"},
        ),
        triplets=report(
            "<results>/figures/{dataset}/{variant}/triplet_regions.png",
            caption="triplet_regions.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "regions for triplets"},
        ),
    log:
        "<logs>/alignment_figures/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.alignments.figures:draw_alignments", datasets.figure_job),
    message:
        "drawing the alignments of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER
