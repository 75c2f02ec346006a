# What a convolutional network makes of an image: whole, ten crops, a grid of cells. Regions are in regions.smk.


def network_weights(wildcards):
    """A network's weights: the user's own, trained by this workflow, or downloaded; those of Caffe are converted."""
    network = SETTINGS.networks[wildcards.network]
    if network.trained_on and not network.local:
        return f"{RESULTS}/{network.trained_on}/networks/{wildcards.network}.safetensors"
    published = obtained(wildcards.network, network.weights, network.local)
    return f"{RESOURCES}/{wildcards.network}/converted.safetensors" if published.endswith(".caffemodel") else published


def feature_settings(wildcards):
    """What of a network decides a view's features: neither other views nor where its weights are."""
    network = SETTINGS.networks[wildcards.network]
    plain = network.model_dump(
        mode="json", include={"architecture", "size", "resize", "mean", "std", "precision", "batch_size"}
    )
    return {**plain, "layers": {view: layer for view, layer in network.layers.items() if view == wildcards.view}}


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
    threads: SETTINGS.threads
    resources:
        mem_mb=4000,
        gpu=SETTINGS.gpu,
    params:
        network=feature_settings,
        sources=source_names,
        threads=SETTINGS.threads,
    script:
        "../scripts/extract_features.py"
