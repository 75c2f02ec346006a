"""ResNet of 152 layers, torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"conv5": "layer4", "pooled": "avgpool", "fc": "fc"})
