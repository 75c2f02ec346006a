# Regions: what a network makes of the proposals, and the Caffe weights that the papers' network comes from.


rule extract_regions:
    input:
        unpack(datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
        proposals=features.proposals,
        weights=features.weights,
        precision=features.precision,
        class_names=features.class_names,
    output:
        "<results>/{dataset}/features/{network}/regions-{proposer}/{shard}.parquet",
    log:
        "<logs>/extract_regions/{dataset}_{network}_{proposer}_{shard}.log",
    conda:
        "../../../envs/torch.yaml"
    threads: datasets.threads
    resources:
        mem_mb=4000,
        runtime=1440,
        gpu=settings.gpu,
    params:
        code=features.code_of("extract_regions.py"),
        network=features.of_regions,
        all_stay=features.all_stay,
        sources=datasets.source_names,
        threads=datasets.threads,
    message:
        "regions of {wildcards.dataset} by {wildcards.network} and {wildcards.proposer}, shard {wildcards.shard}"
    script:
        "../../scripts/extract_regions.py"


rule convert_caffe:
    input:
        caffemodel=features.published_weights,
    output:
        "<resources>/{network}/converted.safetensors",
    log:
        "<logs>/convert_caffe/{network}.log",
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=2000,
    params:
        code=code_of("convert_caffe.py"),
    message:
        "converting the weights of {wildcards.network}"
    script:
        "../../scripts/convert_caffe.py"
