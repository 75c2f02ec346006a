"""Recognises a file of weights by its sha256: its network, and the mean and std of the pixels that it reads."""

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from densevse.command.shared import ROOT
from densevse.config.networks import NetworkConfig

UNKNOWN = "write the {} of these weights here, as [red, green, blue]"
"""Stands for a mean or std that the person must write; the configuration refuses it."""
_HASHED = re.compile(r"-([0-9a-f]{8})\.\w+$")


class KnownWeights(NamedTuple):
    """The entry of `networks` that reads a file of weights."""

    network: str
    entry: Mapping[str, Any]
    reason: str


def recognise_weights(file: str, networks: Mapping[str, NetworkConfig]) -> KnownWeights:
    """The entry for weights: of config/weights.csv, of a configured network, of torchvision or of timm, by sha256.

    Of unknown weights the network is that whose name is in the file's, and `mean` and `std` are left to the person.
    """
    digest = hashlib.sha256(Path(file).read_bytes()).hexdigest()
    local = {"local": file}
    with open(ROOT / "config/weights.csv", encoding="utf-8", newline="") as lines:
        listed = {row["sha256"]: row for row in csv.DictReader(lines)}
    if row := listed.get(digest):
        sides = {key: int(row[key]) for key in ("size", "resize")}
        scale = {key: [float(value) for value in row[key].split()] for key in ("mean", "std")}
        known = networks.get(row["network"])
        own = {} if known else {"architecture": row["network"], "layers": {"whole": "pooled"}, "classes": "imagenet"}
        return KnownWeights(row["network"], {**own, **local, **sides, **scale}, f"by its sha256: {row['note']}")
    for name, network in networks.items():
        published = str(network.weights.sha256 if network.weights else "") or "-"
        if digest.startswith(published):
            return KnownWeights(name, local, f"by its sha256, config/networks/{name}.yaml's own")
    for library in (_torchvision_entries, _timm_entries):
        for place, entry in library():
            if (found := _HASHED.search(place)) and digest.startswith(found[1]):
                return KnownWeights("mine", {**entry, **local}, f"by its sha256, {place.rpartition('/')[2]}")
    stem = re.sub(r"\W", "_", Path(file).stem.lower())
    named = max((name for name in networks if name in stem), key=len, default="")
    asked = {key: UNKNOWN.format(key) for key in ("mean", "std")}
    if named:
        return KnownWeights(named, {**local, **asked}, "by its name; its sha256 is not known")
    own = {"architecture": "write its architecture here, such as resnet50", "layers": {"whole": "avgpool"}}
    return KnownWeights("mine", {**own, **local, **asked}, "not known: neither its sha256 nor its name")


def _torchvision_entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of each of torchvision's weights of a classifier, and the entry that reads them."""
    from densevse.config.registries import ARCHITECTURES
    from densevse.vision.quiet_torchvision import models

    for name in models.list_models(module=models):
        for one in models.get_model_weights(name):
            if name.startswith(("vit_", "swin_")):
                yield one.url, {"architecture": f"torchvision:{name}.{one.name}", "layers": {"whole": "pooled"}}
            elif name in ARCHITECTURES:
                own = one.transforms()
                pooled = "features" if name.startswith(("densenet", "squeezenet", "mobilenet_v2")) else "avgpool"
                entry = {"architecture": name, "layers": {"whole": pooled}, "size": own.crop_size[0]}
                yield one.url, {**entry, "resize": own.resize_size[0], "mean": [*own.mean], "std": [*own.std]}


def _timm_entries() -> Iterator[tuple[str, dict[str, Any]]]:
    """The address of each of timm's weights that has one, and the entry; nothing if timm is not installed."""
    try:
        import timm
    except ModuleNotFoundError:
        return
    for name in timm.list_models(pretrained=True):
        cfg = timm.get_pretrained_cfg(name)
        if cfg is not None and cfg.url:
            yield cfg.url, {"architecture": f"timm:{name}", "layers": {"whole": "pooled"}}
