# Functions that hm_lstm_figures.smk is made with: from wildcards to files and settings.

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
