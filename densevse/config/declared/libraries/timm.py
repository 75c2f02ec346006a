"""PyTorch Image Models (Wightman, 2019)."""

from densevse.config.declared.libraries import Library

DECLARED = Library("densevse.vision.architectures.timm_networks", "timm", extra="networks")
