"""OpenCLIP (Ilharco et al., 2021): CLIP's networks, of images and of sentences."""

from densevse.config.declared.libraries import Library

DECLARED = Library("densevse.vision.architectures.open_clip_networks", "open_clip", extra="networks", has_text=True)
