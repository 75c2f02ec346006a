# Functions that figures.smk is made with: from wildcards to files and settings.


def figures(dataset):
    """Every figure of a data set that all methods have."""
    folder = f"{RESULTS}/figures/{dataset}"
    return [f"{folder}/training_curves.svg", *(f"{folder}/examples/{name}.png" for name in compared(SETTINGS, dataset))]


def histories_of(dataset):
    """Variant -> a run a seed -> its rounds' histories."""
    return {
        name: [
            [
                f"{MODELS}/round{number}/history.parquet".format(dataset=dataset, variant=name, seed=seed)
                for number in range(entry.rounds + 1)
            ]
            for seed in SETTINGS.datasets[dataset].seeds
        ]
        for name, entry in compared_variants(dataset).items()
    }


def history_files(wildcards):
    return [path for runs in histories_of(wildcards.dataset).values() for run in runs for path in run]


def history_runs(wildcards):
    return histories_of(wildcards.dataset)


def title_of_dataset(wildcards):
    return dataset_settings(wildcards).title


def title_of_variant(wildcards):
    return f"{variant_settings(wildcards).title} ({wildcards.variant}) on {dataset_settings(wildcards).title}"


def example_retrieval(wildcards):
    """The last round of the first seed."""
    entry, dataset = variant_settings(wildcards), dataset_settings(wildcards)
    folder = f"{RESULTS}/{wildcards.dataset}/retrieval/{first_protocol(wildcards.dataset)}"
    return f"{folder}/{wildcards.variant}/seed{dataset.seeds[0]}/round{entry.rounds}.parquet"
