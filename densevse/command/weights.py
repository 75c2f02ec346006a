"""Recognises a file of weights by its sha256: its network, and the mean and std of the pixels that it reads."""

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from densevse.command.shared import ROOT
from densevse.config.networks import NetworkConfig
from densevse.config.registries import ARCHITECTURES

Entry = Mapping[str, Any]


def recognise_weights(file: str, networks: Mapping[str, NetworkConfig]) -> tuple[str, Entry, str]:
    """A name below `networks`, its entry for weights, and how they were recognised.

    Weights of config/weights.csv, of a network of the configuration, of torchvision and of timm are known by their
    sha256. Of others the network is that whose name is in the file's. Its `mean` and `std` are left to the person, as a
    text that the configuration refuses, unless a library has them. A network without vectors of whole images is none.
    """
    networks = {name: one for name, one in networks.items() if "whole" in one.layers}
    digest, local = hashlib.sha256(Path(file).read_bytes()).hexdigest(), {"local": file}
    for listed, name, entry in (
        *_listed_entries(),
        *((str(one.weights and one.weights.sha256), name, {}) for name, one in networks.items()),
    ):
        if digest.startswith(listed):
            own = {} if name in networks else {"architecture": name, "layers": {"whole": "pooled"}}
            return name, {**own, **local, **entry}, "known by their sha256"
    for place, entry in (*_torchvision_entries(), *_timm_entries()):
        if (hashed := re.search(r"-([0-9a-f]{8})\.\w+$", place)) and digest.startswith(hashed[1]):
            return "mine", {**entry, **local}, f"known by their sha256: {place.rpartition('/')[2]}"
    named = max((name for name in networks if name in Path(file).stem.lower()), key=len, default="mine")
    keys = () if named in networks and networks[named].library else ("mean", "std")
    asked = {key: f"write the {key} of these weights here, as [red, green, blue]" for key in keys}
    own = {"architecture": "write their architecture here, such as resnet50", "layers": {"whole": "avgpool"}}
    return named, {**({} if named in networks else own), **local, **asked}, "whose sha256 is not known"


def _listed_entries() -> Iterator[tuple[str, str, Entry]]:
    """The rows of config/weights.csv: sha256, network, and its input."""
    with open(ROOT / "config/weights.csv", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            sides = {key: int(row[key]) for key in ("size", "resize")}
            scale = {key: [float(value) for value in row[key].split()] for key in ("mean", "std")}
            yield row["sha256"], row["network"], {**sides, **scale}


def _torchvision_entries() -> Iterator[tuple[str, Entry]]:
    """The address of each of torchvision's weights of a classifier, and the entry that reads them."""
    from densevse.vision.quiet_torchvision import models

    for name in models.list_models(module=models):
        for one in models.get_model_weights(name):
            if name.startswith(("vit_", "swin_")):
                yield one.url, {"architecture": f"torchvision:{name}.{one.name}", "layers": {"whole": "pooled"}}
            elif name in ARCHITECTURES:
                own, pooled = (
                    one.transforms(),
                    "features" if re.match("densenet|squeezenet|mobilenet_v2", name) else "avgpool",
                )
                entry = {"architecture": name, "layers": {"whole": pooled}, "size": own.crop_size[0]}
                yield one.url, {**entry, "resize": own.resize_size[0], "mean": [*own.mean], "std": [*own.std]}


def _timm_entries() -> Iterator[tuple[str, Entry]]:
    """The address of each of timm's weights that has one, and the entry; nothing if timm is not installed."""
    try:
        import timm
    except ModuleNotFoundError:
        return
    for name in timm.list_models(pretrained=True):
        if (own := timm.get_pretrained_cfg(name)) and own.url:
            yield str(own.url), {"architecture": f"timm:{name}", "layers": {"whole": "pooled"}}
