# Regions: the features and choice of proposals by a network, and the papers' network from its Caffe weights.


rule extract_regions:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        proposals=path("<results>/{dataset}/proposals/{proposer}/{shard}.parquet", when=features.needs_proposals),
        weights=path("<resources>/{network}/{file}", features.weights),
        precision=path("<results>/{dataset}/features/{network}/precision.parquet", features.precision),
        class_names=path("<results>/{dataset}/networks/{network}_classes.txt", features.class_names),
    output:
        "<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet",
    log:
        "<logs>/extract_regions/{dataset}_{network}_{proposer}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
        runtime=growing(1440),
    params:
        **calling("densevse.vision.extract_regions:extract_regions", features.region_job),
        contents=contents_of_each(
            weights=("<resources>/{network}/{file}", features.weights),
            class_names=("<results>/{dataset}/networks/{network}_classes.txt", features.class_names),
        ),
    message:
        "regions of {wildcards.dataset} by {wildcards.network} and {wildcards.proposer}, shard {wildcards.shard}"
    script:
        RUNNER


rule convert_caffe:
    input:
        caffemodel=path("<resources>/{network}/{file}", features.published_weights),
    output:
        "<resources>/{network}/converted.safetensors",
    log:
        "<logs>/convert_caffe/{network}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.vision.caffe:convert_caffemodel"),
        contents=contents_of("<resources>/{network}/{file}", features.published_weights),
    message:
        "converting the weights of {wildcards.network}"
    script:
        RUNNER
