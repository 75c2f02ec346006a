"""VGG of 19 layers, torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"fc7": "classifier.4", "fc8": "classifier.6", "conv5_4": "features.35"})
