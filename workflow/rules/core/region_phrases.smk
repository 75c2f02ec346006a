# Region-phrase ranking on true boxes (HM-LSTM, Table 4), where phrases have some.


rule extract_true_regions:
    input:
        unpack(datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
        boxes="<results>/{dataset}/boxes.parquet",
        weights=features.weights,
        precision=features.precision,
    output:
        "<results>/{dataset}/features/{network}/regions-true/test.parquet",
    log:
        "<logs>/extract_true_regions/{dataset}_{network}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        gpu=settings.gpu,
    params:
        code=features.code_of("extract_true_regions.py"),
        network=features.of_regions,
        sources=datasets.source_names,
        threads=datasets.threads,
    message:
        "features of the true boxes of {wildcards.dataset} by {wildcards.network}"
    script:
        "../../scripts/extract_true_regions.py"


rule embed_true_regions:
    input:
        model="<model>/round{round}/model.safetensors",
        true_regions=tables.true_regions,
    output:
        "<results>/{dataset}/embeddings/{variant}/seed{seed}/round{round}/true_regions.parquet",
    log:
        "<logs>/embed_true_regions/{dataset}_{variant}_seed{seed}_round{round}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        gpu=settings.gpu,
    params:
        code=training.code_of("embed_true_regions.py"),
        threads=datasets.threads,
    message:
        "embedding true boxes: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/embed_true_regions.py"


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
        mem_mb=4000,
    params:
        code=code_of("rank_regions.py"),
    message:
        "ranking regions: {wildcards.variant} on {wildcards.dataset}, seed {wildcards.seed}, round {wildcards.round}"
    script:
        "../../scripts/rank_regions.py"
