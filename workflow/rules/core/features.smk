# What a convolutional network makes of an image: whole, ten crops, a grid of cells. Regions are in regions.smk.


rule choose_precision:
    output:
        "<results>/{dataset}/features/{network}/precision.parquet",
    log:
        "<logs>/choose_precision/{dataset}_{network}.log",
    conda:
        "../../../envs/torch.yaml"
    resources:
        mem_mb=1000,
        gpu=settings.gpu,
    message:
        "choosing the precision of {wildcards.network} on {wildcards.dataset}"
    script:
        "../../scripts/choose_precision.py"


rule extract_features:
    input:
        sources=filled("<resources>/{dataset}/{file}", datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
        weights=filled("<resources>/{network}/{file}", features.weights),
        precision=filled("<results>/{dataset}/features/{network}/precision.parquet", features.precision),
    output:
        "<results>/{dataset}/features/{network}/{view}/{shard}.parquet",
    log:
        "<logs>/extract_features/{dataset}_{network}_{view}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: configured(datasets.threads)
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=settings.gpu,
    params:
        code=configured(features.code_of("extract_features.py")),
        network=configured(features.of_images),
        sources=configured(datasets.source_names),
        threads=configured(datasets.threads),
    message:
        "{wildcards.view} features of {wildcards.dataset} by {wildcards.network}, shard {wildcards.shard}"
    script:
        "../../scripts/extract_features.py"
