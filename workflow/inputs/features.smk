# Functions that features.smk is made with: from wildcards to files and settings.


def network_weights(wildcards):
    """A network's weights: the user's own, trained by this workflow, or downloaded; those of Caffe are converted."""
    network = SETTINGS.networks[wildcards.network]
    if network.trained_on and not network.local:
        return f"{RESULTS}/{network.trained_on}/networks/{wildcards.network}.safetensors"
    published = obtained(wildcards.network, network.weights, network.local)
    return f"{RESOURCES}/{wildcards.network}/converted.safetensors" if published.endswith(".caffemodel") else published


def feature_settings(wildcards):
    """What of a network decides a view's features: neither other views nor where its weights are."""
    network = SETTINGS.networks[wildcards.network]
    plain = network.model_dump(
        mode="json", include={"architecture", "size", "resize", "mean", "std", "precision", "batch_size"}
    )
    return {**plain, "layers": {view: layer for view, layer in network.layers.items() if view == wildcards.view}}
