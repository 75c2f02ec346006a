"""Your own architectures of networks; those of the project are in densevse/config/registries.py.

To add an architecture, write a module here whose `DECLARED` is an `Architecture`, and the implementation that it names,
with a function

    untrained(architecture, state) -> nn.Module

that has the classes of the weights `state` (tensors by name). An architecture that finds its own boxes has

    detector(weights, detections, nms_threshold)

which returns a `Detector` of densevse/vision/extract_regions.py. The module's name is the architecture's. The plan
imports it, so it imports no large library such as torch; only jobs import the implementation.

    from densevse.config.registries import Architecture

    DECLARED = Architecture({"pooled": "pool"}, "densevse.vision.architectures.tiny")
"""
