# Functions that scenes.smk is made with: from wildcards to files and settings.


def of_reader(reader):
    """The data sets that a reader reads."""
    return any_of(name for name, dataset in SETTINGS.datasets.items() if dataset.reader == reader)


def trained_here():
    """The networks that a workflow trains, instead of downloading their weights."""
    return any_of(name for name, network in SETTINGS.networks.items() if network.trained_on)


def network_training(wildcards):
    """What of a network decides its training."""
    return SETTINGS.networks[wildcards.network].model_dump(mode="json", include={"size", "mean", "std"})
