# Functions that tables.smk is made with: from wildcards to files and settings.

TABLES = {table: dataset for dataset, entry in SETTINGS.datasets.items() for table in entry.tables}


PUBLISHED = sorted(str(file) for file in (ROOT / "config/published").glob("*.csv"))


def tables(dataset):
    """Every table of a data set."""
    names = list(SETTINGS.datasets[dataset].tables) + ([f"{dataset}_rounds"] if variants_with_rounds(dataset) else [])
    return [f"{RESULTS}/tables/{name}.md" for name in names]


def compared_variants(dataset):
    """Variant -> its settings on a data set, for those in its tables."""
    return {name: variant(SETTINGS, name, dataset) for name in compared(SETTINGS, dataset)}


def variants_with_rounds(dataset):
    return {name: entry for name, entry in compared_variants(dataset).items() if entry.rounds}


def table_retrievals(wildcards):
    """The last round of every variant and seed."""
    dataset = TABLES[wildcards.table]
    last = {name: [entry.rounds] for name, entry in compared_variants(dataset).items()}
    return retrieval_files(dataset, SETTINGS.datasets[dataset].tables[wildcards.table].protocol, last)


def table_images(wildcards):
    return f"{RESULTS}/{TABLES[wildcards.table]}/images.parquet"


def table_captions(wildcards):
    return f"{RESULTS}/{TABLES[wildcards.table]}/captions.parquet"


def table_settings(wildcards):
    """What a table says of its making: no shards and no folders, on which no result depends."""
    dataset = SETTINGS.datasets[TABLES[wildcards.table]]
    entries = compared_variants(TABLES[wildcards.table])
    described = {"title", "reader", "options", "networks", "proposer", "parser", "word_vectors", "minimum_word_count"}
    names = {name for entry in entries.values() for name in {**dataset.networks, **entry.networks}.values()}
    return {
        **settings_of(dataset.tables[wildcards.table]),
        "dataset": dataset.model_dump(mode="json", include=described),
        "variants": {name: settings_of(entry) for name, entry in entries.items()},
        "networks": {name: network_settings(SETTINGS.networks[name]) for name in sorted(names)},
        "measured": {name: dataset.seeds for name in entries},
    }


def network_settings(network):
    local = {"local": Path(network.local).name} if network.local else {}
    return {**settings_of(network), **local}


def first_protocol(dataset):
    """The protocol of a data set's first table, for what is shown once a data set."""
    return next(iter(SETTINGS.datasets[dataset].tables.values())).protocol


def rounds_retrievals(wildcards):
    rounds = {name: range(entry.rounds + 1) for name, entry in variants_with_rounds(wildcards.dataset).items()}
    return retrieval_files(wildcards.dataset, first_protocol(wildcards.dataset), rounds)


def rounds_accuracies(wildcards):
    """Where phrases have true boxes, how right each round's correspondences are."""
    dataset = dataset_settings(wildcards)
    if not phrases_have_boxes(wildcards.dataset):
        return []
    return [
        f"{MODELS}/round{number}/correspondence_accuracy.parquet".format(
            dataset=wildcards.dataset, variant=name, seed=seed
        )
        for name, entry in variants_with_rounds(wildcards.dataset).items()
        for number in range(1, entry.rounds + 1)
        for seed in dataset.seeds
    ]


def phrases_have_boxes(dataset):
    return SETTINGS.datasets[dataset].reader == "scenes" or SETTINGS.datasets[dataset].boxes is not None


def rounds_settings(wildcards):
    dataset, entries = dataset_settings(wildcards), variants_with_rounds(wildcards.dataset)
    return {
        "title": f"{dataset.title}: what each round gained",
        "rounds": {name: entry.rounds for name, entry in entries.items()},
        "titles": {name: entry.title for name, entry in entries.items()},
        "seeds": dataset.seeds,
    }
