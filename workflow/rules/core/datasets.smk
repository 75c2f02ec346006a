# From official files to the image table, the caption table and, if a data set has them, true boxes.


rule read_dataset:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
    output:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/read_dataset/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.official(),
    conda:
        "../../../envs/base.yaml"
    threads: 2
    resources:
        mem_mb=growing(2000),
    params:
        code=configured(datasets.code_of("read_dataset.py")),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
        dataset=configured(datasets.reading),
        sources=configured(datasets.source_names),
    message:
        "reading {wildcards.dataset}"
    script:
        "../../scripts/read_dataset.py"


rule resplit:
    input:
        images=path("<results>/{dataset}/images.parquet", datasets.divided),
        captions=path("<results>/{dataset}/captions.parquet", datasets.divided),
    output:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/resplit/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.resplits(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("resplit.py"),
        draw=configured(datasets.draw),
    message:
        "drawing the splits of {wildcards.dataset}"
    script:
        "../../scripts/resplit.py"


rule read_boxes:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/boxes.parquet",
    log:
        "<logs>/read_boxes/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.with_official_boxes(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        code=configured(datasets.code_of("read_boxes.py")),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
        dataset=configured(datasets.reading),
        sources=configured(datasets.source_names),
    message:
        "reading the true boxes of {wildcards.dataset}"
    script:
        "../../scripts/read_boxes.py"


rule read_masks:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/masks.parquet",
    log:
        "<logs>/read_masks/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.with_masks(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(12000),
    params:
        code=configured(datasets.code_of("read_masks.py")),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
        dataset=configured(datasets.reading),
        sources=configured(datasets.source_names),
    message:
        "reading the masks of {wildcards.dataset}"
    script:
        "../../scripts/read_masks.py"


rule read_given_boxes:
    input:
        boxes=path("{own_file}", datasets.given_boxes),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
        tokens="<results>/{dataset}/tokens.parquet",
    output:
        "<results>/{dataset}/boxes.parquet",
    log:
        "<logs>/read_given_boxes/{dataset}.log",
    wildcard_constraints:
        dataset=datasets.with_given_boxes(),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        code=code_of("read_given_boxes.py"),
        contents=contents_of("{own_file}", datasets.given_boxes),
    message:
        "reading your true boxes of {wildcards.dataset}"
    script:
        "../../scripts/read_given_boxes.py"
