# A model's attention in the images and sentences of a split, its score against true boxes, and pictures of it.

from densevse.analyses.attention import dag

attention = analyses.add(dag)


rule explain:
    input:
        unpack(training.inputs),
        model="<model>/round{round}/model.safetensors",
    output:
        "<results>/{dataset}/saliency/{variant}/seed{seed}/round{round}/{split}.parquet",
    log:
        "<logs>/explain/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        f"{ENVS}/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.analyses.attention.explaining:write_saliency", training.model_job),
    message:
        "saliency of {wildcards.split}: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule score_saliency:
    input:
        saliency="<results>/{dataset}/saliency/{variant}/seed{seed}/round{round}/{split}.parquet",
        boxes="<results>/{dataset}/boxes.parquet",
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/saliency/{variant}/seed{seed}/round{round}/{split}_score.parquet",
    log:
        "<logs>/score_saliency/{dataset}_{variant}_seed{seed}_round{round}_{split}.log",
    wildcard_constraints:
        split="train|val|test",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.attention.saliency:write_score"),
    message:
        "saliency against true boxes: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}"
    script:
        RUNNER


rule saliency_figures:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        saliency=path("<results>/{dataset}/saliency/{variant}/seed{seed}/round{round}/test.parquet", project.last_round),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        maps=report(
            "<results>/figures/{dataset}/{variant}/saliency.png",
            caption="saliency.rst",
            category="Saliency",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "saliency, step by step"},
        ),
        mean=report(
            "<results>/figures/{dataset}/{variant}/average_saliency.png",
            caption="saliency.rst",
            category="Saliency",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "mean over all test images"},
        ),
    log:
        "<logs>/saliency_figures/{dataset}_{variant}.log",
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
        runtime=growing(10),
    params:
        **calling("densevse.analyses.attention.figures:draw_saliency", attention.job),
    message:
        "drawing the attention of {wildcards.variant} on {wildcards.dataset}"
    script:
        RUNNER


# Figure 5 of sm-LSTM is results/figures/flickr30k/sm_lstm/saliency_beside_sm_lstm_att.png.
rule saliency_of_two:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        saliency=path(
            "<results>/{dataset}/saliency/{variant}/seed{seed}/round{round}/test.parquet",
            lambda dataset, variant, other: [project.last_round(dataset, name) for name in (variant, other)],
        ),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        "<results>/figures/{dataset}/{variant}/saliency_beside_{other}.png",
    log:
        "<logs>/saliency_of_two/{dataset}_{variant}_{other}.log",
    wildcard_constraints:
        other=name_pattern(settings.variant_names()),
    conda:
        f"{ENVS}/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.analyses.attention.figures:draw_saliency_maps", attention.job),
    message:
        "drawing the attention of {wildcards.variant} and {wildcards.other} on {wildcards.dataset}"
    script:
        RUNNER
