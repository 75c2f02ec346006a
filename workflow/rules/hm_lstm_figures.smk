# HM-LSTM's own figures: the learned correspondences, phrases for regions, and the common space.


rule correspondences_figure:
    input:
        unpack(dataset_sources),
        correspondences=last_correspondences,
        image_table=f"{RESULTS}/{{dataset}}/images.parquet",
        caption_table=f"{RESULTS}/{{dataset}}/captions.parquet",
        code=code("correspondences_figure.py"),
    output:
        report(
            f"{PHRASE_FIGURES}/correspondences.png",
            caption="../report/correspondences.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "learned correspondences"},
        ),
    log:
        f"{RESULTS}/logs/correspondences_figure/{{dataset}}_{{variant}}.log",
    conda:
        "../../envs/base.yaml"
    resources:
        mem_mb=1500,
    params:
        sources=source_names,
        title=title_of_variant,
    script:
        "../scripts/correspondences_figure.py"


rule embedding_figures:
    input:
        unpack(dataset_sources),
        unpack(method_inputs),
        model=last_model,
        code=code("embedding_figures.py"),
    output:
        space=report(
            f"{PHRASE_FIGURES}/embedding.svg",
            caption="../report/embedding.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "the common space"},
        ),
        nearest=report(
            f"{PHRASE_FIGURES}/region_phrases.png",
            caption="../report/region_phrases.rst",
            category="Regions and phrases",
            labels={"data set": "{dataset}", "variant": "{variant}", "figure": "phrases for regions"},
        ),
    log:
        f"{RESULTS}/logs/embedding_figures/{{dataset}}_{{variant}}.log",
    benchmark:
        f"{RESULTS}/benchmarks/embedding_figures/{{dataset}}_{{variant}}.tsv"
    conda:
        "../../envs/torch.yaml"
    threads: torch_threads
    resources:
        mem_mb=4000,
    params:
        sources=source_names,
        title=title_of_variant,
        threads=torch_threads,
    script:
        "../scripts/embedding_figures.py"
