"""AlexNet, torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"fc7": "classifier.5", "fc8": "classifier.6", "conv5": "features.11"})
