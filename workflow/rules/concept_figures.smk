# SCO's figures: the concepts of images, and what its variants find for the same images.


rule predicted_concepts:
    input:
        unpack(datasets.sources),
        scores=concepts.scores_of_dataset,
        image_table="<results>/{dataset}/images.parquet",
        concepts=rules.mine_concepts.output.concepts,
        image_concepts=rules.mine_concepts.output.image_concepts,
    output:
        report(
            "<results>/figures/{dataset}/concepts.png",
            caption="../report/predicted_concepts.rst",
            category="Concepts",
            labels={"data set": "{dataset}"},
        ),
    log:
        "<logs>/predicted_concepts/{dataset}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        code=code_of("predicted_concepts.py"),
        sources=datasets.source_names,
        title=figures.title_of_concepts,
    message:
        "drawing the concepts of images of {wildcards.dataset}"
    script:
        "../scripts/predicted_concepts.py"


rule compared_retrievals:
    input:
        unpack(datasets.sources),
        retrievals=figures.compared,
        image_table="<results>/{dataset}/images.parquet",
        caption_table="<results>/{dataset}/captions.parquet",
    output:
        report(
            "<results>/figures/{dataset}/sco_comparison.png",
            caption="../report/compared_retrievals.rst",
            category="Examples",
            labels={"data set": "{dataset}", "variant": "SCO, compared"},
        ),
    log:
        "<logs>/compared_retrievals/{dataset}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        code=code_of("compared_retrievals.py"),
        sources=datasets.source_names,
        titles=figures.titles_compared,
        title=figures.title_of_comparison,
    message:
        "drawing what the variants of SCO found on {wildcards.dataset}"
    script:
        "../scripts/compared_retrievals.py"
