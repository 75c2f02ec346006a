"""torchvision's transformers, with its own preprocessing; its convolutional networks need no library's name."""

from densevse.config.declared.libraries import Library

DECLARED = Library("densevse.vision.architectures.torchvision_networks", "torchvision")
