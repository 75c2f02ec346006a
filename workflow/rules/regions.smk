# Regions: what a network makes of the proposals, and the Caffe weights that the papers' network comes from.


rule extract_regions:
    input:
        unpack(dataset_sources),
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        proposals=region_proposals,
        weights=network_weights,
        class_names=class_names,
        code=code("extract_regions.py"),
    output:
        f"{RESULTS}/{{dataset}}/features/{{network}}/regions-{{proposer}}/{{shard}}.parquet",
    log:
        f"{RESULTS}/logs/extract_regions/{{dataset}}_{{network}}_{{proposer}}_{{shard}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/extract_regions/{{dataset}}_{{network}}_{{proposer}}_{{shard}}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=4000,
        runtime=1440,
        gpu=SETTINGS.gpu,
    params:
        network=region_settings,
        sources=source_names,
        threads=torch_threads,
    script:
        "../scripts/extract_regions.py"


rule convert_caffe:
    input:
        caffemodel=caffe_weights,
        code=code("convert_caffe.py"),
    output:
        f"{RESOURCES}/{{network}}/converted.safetensors",
    log:
        f"{RESULTS}/logs/convert_caffe/{{network}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=2000,
    script:
        "../scripts/convert_caffe.py"
