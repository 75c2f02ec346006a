# From official files to the image table, the caption table and, where a data set has them, true boxes.


rule read_dataset:
    input:
        unpack(dataset_sources),
        code=reader_code,
    output:
        images=f"{RESULTS}/{{dataset}}/images.parquet",
        captions=f"{RESULTS}/{{dataset}}/captions.parquet",
    log:
        f"{RESULTS}/logs/read_dataset/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/read_dataset/{{dataset}}.tsv"
    conda:
        "../../envs/base.yaml"
    threads: 2
    resources:
        mem_mb=2000,
    params:
        dataset=reader_settings,
        sources=source_names,
    script:
        "../scripts/read_dataset.py"


rule read_boxes:
    input:
        unpack(dataset_sources),
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        code=reader_code,
    output:
        f"{RESULTS}/{{dataset}}/boxes.parquet",
    log:
        f"{RESULTS}/logs/read_boxes/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/read_boxes/{{dataset}}.tsv"
    wildcard_constraints:
        dataset=with_boxes({"coco", "scenes"}),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=4000,
    params:
        dataset=reader_settings,
        sources=source_names,
    script:
        "../scripts/read_boxes.py"


rule read_given_boxes:
    input:
        boxes=given_boxes,
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        caption_table=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("read_given_boxes.py"),
    output:
        f"{RESULTS}/{{dataset}}/boxes.parquet",
    log:
        f"{RESULTS}/logs/read_given_boxes/{{dataset}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/read_given_boxes/{{dataset}}.tsv"
    wildcard_constraints:
        dataset=any_of(name for name, dataset in SETTINGS.datasets.items() if dataset.boxes),
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=2000,
    script:
        "../scripts/read_given_boxes.py"
