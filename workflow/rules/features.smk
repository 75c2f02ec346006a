# What a convolutional network makes of an image: whole, ten crops, a grid of cells. Regions are in regions.smk.


rule extract_features:
    input:
        unpack(dataset_sources),
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        weights=network_weights,
        code=code("extract_features.py"),
    output:
        f"{RESULTS}/{{dataset}}/features/{{network}}/{{view}}/{{shard}}.parquet",
    log:
        f"{RESULTS}/logs/extract_features/{{dataset}}_{{network}}_{{view}}_{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/extract_features/{{dataset}}_{{network}}_{{view}}_{{shard}}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=4000,
        runtime=240,
        gpu=SETTINGS.gpu,
    params:
        network=feature_settings,
        sources=source_names,
        threads=torch_threads,
    script:
        "../scripts/extract_features.py"
