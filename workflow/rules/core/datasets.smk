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
        dataset=name_pattern(name for name, one in settings.datasets.items() if not one.resplit),
    conda:
        "../../../envs/base.yaml"
    threads: 2
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.datasets.readers:write_dataset", datasets.reading_job),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
    message:
        "reading {wildcards.dataset}"
    script:
        RUNNER


rule resplit:
    input:
        image_table=path(
            "<results>/{dataset}/images.parquet", lambda dataset: {"dataset": project.image_dataset(dataset)}
        ),
        caption_table=path(
            "<results>/{dataset}/captions.parquet", lambda dataset: {"dataset": project.image_dataset(dataset)}
        ),
    output:
        images="<results>/{dataset}/images.parquet",
        captions="<results>/{dataset}/captions.parquet",
    log:
        "<logs>/resplit/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if one.resplit),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.datasets.readers:write_resplit", datasets.resplit_job),
    message:
        "drawing the splits of {wildcards.dataset}"
    script:
        RUNNER


rule read_boxes:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/boxes.parquet",
    log:
        "<logs>/read_boxes/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if one.has_boxes and not one.boxes),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(4000),
    params:
        **calling("densevse.datasets.true_boxes:write_boxes", datasets.reading_job),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
    message:
        "reading the true boxes of {wildcards.dataset}"
    script:
        RUNNER


rule read_masks:
    input:
        sources=path("<resources>/{dataset}/{file}", datasets.sources),
        image_table="<results>/{dataset}/images.parquet",
    output:
        "<results>/{dataset}/masks.parquet",
    log:
        "<logs>/read_masks/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if one.has_masks),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(12000),
    params:
        **calling("densevse.datasets.true_boxes:write_masks", datasets.reading_job),
        contents=contents_of("<resources>/{dataset}/{file}", datasets.sources),
    message:
        "reading the masks of {wildcards.dataset}"
    script:
        RUNNER


rule read_given_boxes:
    input:
        boxes=path("{own_file}", lambda dataset: settings.datasets[dataset].boxes),
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
        tokens="<results>/{dataset}/tokens.parquet",
    output:
        "<results>/{dataset}/boxes.parquet",
    log:
        "<logs>/read_given_boxes/{dataset}.log",
    wildcard_constraints:
        dataset=name_pattern(name for name, one in settings.datasets.items() if one.boxes),
    conda:
        "../../../envs/base.yaml"
    resources:
        mem_mb=growing(2000),
    params:
        **calling("densevse.datasets.given_boxes:write_given_boxes"),
        contents=contents_of("{own_file}", lambda dataset: settings.datasets[dataset].boxes),
    message:
        "reading your true boxes of {wildcards.dataset}"
    script:
        RUNNER
