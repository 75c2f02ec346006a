"""SqueezeNet 1.0, torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"conv": "features", "pooled": "features"})
