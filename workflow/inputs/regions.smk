# Functions that regions.smk is made with: from wildcards to files and settings.


def region_proposals(wildcards):
    """The shard's proposals; a detector that finds its own boxes needs none."""
    if SETTINGS.networks[wildcards.network].architecture == "faster_rcnn":
        return []
    return f"{RESULTS}/{wildcards.dataset}/proposals/{wildcards.proposer}/{wildcards.shard}.parquet"


def region_settings(wildcards):
    """What of a network decides its regions: neither other views nor where its weights are."""
    network = SETTINGS.networks[wildcards.network]
    fields = {"architecture", "size", "resize", "mean", "std", "precision", "batch_size", "regions"}
    plain = network.model_dump(mode="json", include=fields)
    return {**plain, "layers": {view: layer for view, layer in network.layers.items() if view == "regions"}}


def caffe_weights(wildcards):
    network = SETTINGS.networks[wildcards.network]
    return obtained(wildcards.network, network.weights, network.local)
