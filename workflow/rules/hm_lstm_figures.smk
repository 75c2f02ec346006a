# HM-LSTM's own figures: the learned correspondences, phrases for regions, and the common space.

PHRASE_FIGURES = f"{RESULTS}/figures/{{dataset}}/{{variant}}"


def hm_lstm_figures(dataset):
    """The figures of HM-LSTM itself, where it is compared on a data set; the first seed's."""
    if "hm_lstm" not in compared(SETTINGS, dataset):
        return []
    names = ["embedding.svg", "region_phrases.png"]
    names += ["correspondences.png"] if variant(SETTINGS, "hm_lstm", dataset).rounds else []
    return [f"{RESULTS}/figures/{dataset}/hm_lstm/{name}" for name in names]


def last_round(wildcards, file):
    """A file of the last round of a variant's first seed."""
    seed, number = dataset_settings(wildcards).seeds[0], variant_settings(wildcards).rounds
    return f"{MODELS}/round{number}/{file}".format(dataset=wildcards.dataset, variant=wildcards.variant, seed=seed)


def last_model(wildcards):
    return last_round(wildcards, "model.safetensors")


def last_correspondences(wildcards):
    return last_round(wildcards, "correspondences.parquet")


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
    conda:
        "../../envs/torch.yaml"
    threads: SETTINGS.threads
    resources:
        mem_mb=4000,
    params:
        sources=source_names,
        title=title_of_variant,
        threads=SETTINGS.threads,
    script:
        "../scripts/embedding_figures.py"
