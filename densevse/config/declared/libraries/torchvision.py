"""torchvision's transformers, with its own preprocessing; its convolutional networks are architectures by themselves."""

from densevse.config.declared.libraries import Library

DECLARED = Library("densevse.vision.architectures.torchvision_networks", "torchvision")
