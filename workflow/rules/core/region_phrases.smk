# Region-phrase ranking on true boxes (HM-LSTM, Table 4), if phrases have them.


rule extract_true_regions:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        boxes="<results>/{dataset}/boxes.parquet",
        weights=path("<resources>/{network}/{file}", features.weights),
        precision=path("<results>/{dataset}/features/{network}/precision.parquet", features.precision),
    output:
        "<results>/{dataset}/features/{network}/regions-true/test.parquet",
    log:
        "<logs>/extract_true_regions/{dataset}_{network}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.vision.extract_regions:extract_true_regions", features.region_job, split="test"),
        contents=contents_of("<resources>/{network}/{file}", features.weights),
    message:
        "features of the true boxes of {wildcards.dataset} by {wildcards.network}"
    script:
        RUNNER


rule embed_true_regions:
    input:
        model="<model>/round{round}/model.safetensors",
        true_regions=path(
            "<results>/{dataset}/features/{network}/regions-true/test.parquet",
            lambda dataset, variant: {
                "network": project.view_network(
                    variant, dataset, "regions", project.variant(dataset, variant).networks
                )
            },
        ),
    output:
        "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/true_regions.parquet",
    log:
        "<logs>/embed_true_regions/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
    params:
        **calling("densevse.models.embedding:embed_true_regions", training.model_job),
    message:
        "embedding true boxes: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER


rule rank_regions:
    input:
        embeddings="<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/test.parquet",
        true_regions=rules.embed_true_regions.output[0],
        boxes="<results>/{dataset}/boxes.parquet",
    output:
        "<results>/{dataset}/region_ranking/{variant}/seed{seed}/round{round}.parquet",
    log:
        "<logs>/rank_regions/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=growing(4000),
        runtime=growing(10),
    params:
        **calling("densevse.evaluation.region_ranking:rank_regions"),
    message:
        "ranking regions: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        RUNNER
