# Features of images by a convolutional network: whole, ten crops, a grid of cells. Regions are in regions.smk.


rule choose_precision:
    output:
        "<results>/{dataset}/features/{network}/precision.parquet",
    log:
        "<logs>/choose_precision/{dataset}_{network}.log",
    conda:
        "../../../envs/torch.yaml"
    resources:
        **settings.accelerator,
        mem_mb=growing(3000),
    params:
        **calling_once("densevse.vision.extract:write_precision"),
    message:
        "choosing the precision of {wildcards.network} on {wildcards.dataset}"
    script:
        RUNNER


rule extract_features:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.pictures),
        image_table="<results>/{dataset}/images.parquet",
        weights=path("<resources>/{network}/{file}", features.weights),
        precision=path("<results>/{dataset}/features/{network}/precision.parquet", features.precision),
    output:
        "<results>/{dataset}/features/{network}/{view}/{shard}.parquet",
    log:
        "<logs>/extract_features/{dataset}_{network}_{view}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: from_wildcards(project.threads)
    resources:
        **settings.accelerator,
        mem_mb=growing(4000),
        runtime=growing(240),
    params:
        **calling("densevse.vision.extract:extract_features", features.image_job),
        contents=contents_of("<resources>/{network}/{file}", features.weights),
    message:
        "{wildcards.view} features of {wildcards.dataset} by {wildcards.network}, shard {wildcards.shard}"
    script:
        RUNNER


rule read_given_features:
    input:
        files=path("{own_file}", features.given_files),
        image_table="<results>/{dataset}/images.parquet",
        whole=path("<results>/{dataset}/features/{network}/whole/{shard}.parquet", features.whole_image_source),
    output:
        "<results>/{dataset}/features/{given}/{view}/{shard}.parquet",
    log:
        "<logs>/read_given_features/{dataset}_{given}_{view}_{shard}.log",
    wildcard_constraints:
        given=name_pattern(name for one in settings.datasets.values() for name in one.features),
        view="whole|grid|concepts|regions-given",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(1000),
    params:
        **calling("densevse.vision.given_features:read_given_features", features.given_job),
        contents=contents_of("{own_file}", features.given_files),
    message:
        "reading your {wildcards.view} features {wildcards.given} of {wildcards.dataset}, shard {wildcards.shard}"
    script:
        RUNNER
