"""The small network of the data set scenes, trained by the workflow."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture(
    {"fc7": "classifier.relu7", "fc8": "classifier.fc8", "conv4": "features", "pooled": "avgpool"},
    "densevse.scenes.network",
)
