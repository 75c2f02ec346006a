# Figures of every method: the course of training, and what queries found.


rule training_curves:
    input:
        histories=history_files,
        code=code("training_curves.py"),
    output:
        report(
            f"{RESULTS}/figures/{{dataset}}/training_curves.svg",
            caption="../report/training_curves.rst",
            category="Training",
            labels={"data set": "{dataset}"},
        ),
    log:
        f"{RESULTS}/logs/training_curves/{{dataset}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1000,
    params:
        runs=history_runs,
        title=title_of_dataset,
    script:
        "../scripts/training_curves.py"


rule example_retrievals:
    input:
        unpack(dataset_sources),
        retrieval=example_retrieval,
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        caption_table=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("example_retrievals.py"),
    output:
        report(
            f"{RESULTS}/figures/{{dataset}}/examples/{{variant}}.png",
            caption="../report/examples.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "{variant}"},
        ),
    log:
        f"{RESULTS}/logs/example_retrievals/{{dataset}}_{{variant}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        sources=source_names,
        title=title_of_variant,
    script:
        "../scripts/example_retrievals.py"
