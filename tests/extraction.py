"""Runs the jobs that extract features, by a network and files of a test's own."""

import torch

from densevse.vision.extract import extract_features
from densevse.vision.extract_regions import extract_regions


def write_features(images, sources, network, view, shard, path):
    """`network` are `NetworkFiles`."""
    wildcards = {"network": network.name, "view": view, "shard": shard}
    described = network.settings, str(network.weights)
    threads = torch.get_num_threads()
    extract_features(str(images), sources, *described, str(path), wildcards, threads, network.precision)


def write_regions(images, proposals, sources, network, names, shard, path, all_stay=False):
    """`names` are those of the network's classes, which a file beside `path` gets."""
    path.parent.mkdir(parents=True, exist_ok=True)
    class_names = path.with_suffix(".classes")
    class_names.write_text("".join(f"{name}\n" for name in names))
    wildcards = {"network": network.name, "shard": shard}
    given = network.settings, str(network.weights), all_stay, str(path), wildcards, torch.get_num_threads()
    extract_regions(str(images), sources, *given, str(proposals), network.precision, str(class_names))
