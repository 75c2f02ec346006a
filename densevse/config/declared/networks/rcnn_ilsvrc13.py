"""R-CNN's network for the 200 classes of ILSVRC13 (Girshick et al., CVPR 2014)."""

from densevse.config.declared.networks import Architecture

DECLARED = Architecture(
    {"fc7": "classifier.relu7", "fc8": "classifier.fc_rcnn", "conv5": "features.relu5"},
    "densevse.vision.architectures.rcnn",
)
