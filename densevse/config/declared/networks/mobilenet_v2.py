"""MobileNet V2, torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"conv": "features", "pooled": "features"})
