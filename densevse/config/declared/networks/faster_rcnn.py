"""Faster R-CNN (Ren et al., NIPS 2015), torchvision's."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture({"fc7": "roi_heads.box_head"}, "densevse.vision.architectures.faster_rcnn", finds_boxes=True)
