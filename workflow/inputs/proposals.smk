# Functions that proposals.smk is made with: from wildcards to files and settings.


def proposer_settings(wildcards):
    return settings_of(SETTINGS.proposers[wildcards.proposer])


def proposer_files(wildcards):
    """The file or folder of the user's that a proposer reads; selective search reads none."""
    options = SETTINGS.proposers[wildcards.proposer].options
    return [options[key] for key in ("path", "folder") if key in options]


def proposal_files(wildcards):
    return sharded(f"{RESULTS}/{wildcards.dataset}/proposals/{wildcards.proposer}", wildcards.dataset)


def compared_proposers(wildcards):
    """The data set's proposer and those that its table sets beside it."""
    dataset = dataset_settings(wildcards)
    return list(dict.fromkeys([dataset.proposer, *dataset.proposers_compared]))


def recall_files(wildcards):
    folder = f"{RESULTS}/{wildcards.dataset}/proposals"
    return [f"{folder}/{proposer}_recall.parquet" for proposer in compared_proposers(wildcards)]


def dataset_title(wildcards):
    return dataset_settings(wildcards).title
