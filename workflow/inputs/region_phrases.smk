# Functions that region_phrases.smk is made with: from wildcards to files and settings.


def region_tables(dataset):
    """The table of region-phrase ranking, where a data set's phrases have true boxes and a method has phrases."""
    possible = phrases_have_boxes(dataset) and variants_with_phrases(dataset)
    return [f"{RESULTS}/tables/{dataset}_regions.md"] if possible else []


def variants_with_phrases(dataset):
    return {name: entry for name, entry in compared_variants(dataset).items() if entry.model == "hm_lstm"}


def true_regions(wildcards):
    """The features of true boxes by the network of the variant's regions."""
    dataset, entry = dataset_settings(wildcards), variant_settings(wildcards)
    network = {**dataset.networks, **entry.networks}["regions"]
    return f"{RESULTS}/{wildcards.dataset}/features/{network}/regions-true/test.parquet"


def region_rankings(wildcards):
    """The last round of every variant that has phrases, and every seed."""
    return [
        f"{RESULTS}/{wildcards.dataset}/region_ranking/{name}/seed{seed}/round{entry.rounds}.parquet"
        for name, entry in variants_with_phrases(wildcards.dataset).items()
        for seed in dataset_settings(wildcards).seeds
    ]


def region_table_settings(wildcards):
    dataset, entries = dataset_settings(wildcards), variants_with_phrases(wildcards.dataset)
    titles = {name: entry.title for name, entry in entries.items()}
    return {"title": dataset.title, "titles": titles, "seeds": dataset.seeds}
