# Figures of every method: the course of training, and what queries found.


rule training_curves:
    input:
        histories=figures.histories,
    output:
        report(
            "<results>/figures/{dataset}/training_curves.svg",
            caption="../report/training_curves.rst",
            category="Training",
            labels={"data set": "{dataset}"},
        ),
    log:
        "<logs>/training_curves/{dataset}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        code=code_of("training_curves.py"),
        runs=figures.runs,
        title=datasets.title,
    message:
        "drawing the course of training on {wildcards.dataset}"
    script:
        "../scripts/training_curves.py"


rule example_retrievals:
    input:
        unpack(datasets.sources),
        retrieval=figures.example,
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/examples/{variant}.png",
            caption="../report/examples.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        "<logs>/example_retrievals/{dataset}_{variant}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        code=code_of("example_retrievals.py"),
        sources=datasets.source_names,
        title=figures.title_of_variant,
    message:
        "drawing what {wildcards.variant} found on {wildcards.dataset}"
    script:
        "../scripts/example_retrievals.py"
