"""The arithmetic of the networks that read images, for `densevse plan`: config/network_costs.csv.

A row is a layer of a network and the pass over one crop that ends there: `flop`, its floating-point operations;
`written`, the numbers that its layers write, where a batch normalisation, which is folded into its convolution, writes
none; and the shape of the result, `cells` x `length` (one cell for a vector).

python -m tools.network_costs > config/network_costs.csv
"""

import csv
import math
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode
from torchvision import models
from torchvision.models.feature_extraction import create_feature_extractor

from densevse.config.networks import CLASSES
from densevse.config.registries import ARCHITECTURES, OTHERS
from densevse.scenes.network import ScenesNet
from densevse.vision.architectures import efficientnet_lite
from densevse.vision.architectures.rcnn import RCNN

SIDES = {"rcnn_ilsvrc13": 227, "inception_v3": 299, "tf_efficientnet_lite2": 260}
"""The sides of the crops of networks that do not read 224 pixels."""
OF_TIMM = (
    "deit_small_patch16_224",
    "resnet50",
    "tf_efficientnet_lite0",
    "tf_efficientnet_lite2",
    "vit_base_patch16_224",
)
_FREE = {
    "view",
    "_unsafe_view",
    "t",
    "transpose",
    "permute",
    "expand",
    "unsqueeze",
    "squeeze",
    "detach",
    "native_batch_norm",
}
"""Operators that write nothing: those that show a tensor in another form, and what is folded into a convolution."""


_BUILDERS: dict[str, Callable[[], nn.Module]] = {
    "scenes_net": partial(ScenesNet, 100),
    "rcnn_ilsvrc13": RCNN,
    **{name: partial(efficientnet_lite.untrained, name, {}) for name in efficientnet_lite.SIZES},
    **{name: partial(models.get_model, name, init_weights=False) for name in ("googlenet", "inception_v3")},
}


class CostRow(NamedTuple):
    """A row of the file; see there."""

    network: str
    layer: str
    side: int
    flop: int
    written: int
    cells: int
    length: int


class _Written(TorchDispatchMode):
    """Counts the numbers that operators write."""

    def __init__(self) -> None:
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        out = func(*args, **(kwargs or {}))
        if isinstance(out, Tensor) and func.overloadpacket.__name__ not in _FREE:
            self.count += out.numel()
        return out


def row(network: str, layer: str, module: nn.Module, side: int) -> CostRow:
    """The row of a module on torch's device meta, which computes shapes alone."""
    crop = torch.empty(1, 3, side, side, device="meta")
    with torch.no_grad(), FlopCounterMode(display=False) as flop, _Written() as written:
        found = module(crop)
    found = next(iter(found.values())) if isinstance(found, dict) else found
    cells = math.prod(found.shape[2:]) if found.ndim == 4 else 1
    return CostRow(network, layer, side, flop.get_total_flops(), written.count, cells, found.shape[1])


def rows() -> Iterator[CostRow]:
    """The rows of all networks whose arithmetic does not depend on what they see."""
    for name in ARCHITECTURES.listed_names:
        if not ARCHITECTURES[name].finds_boxes:
            yield from architecture_rows(name)
    for name in sorted(OTHERS):
        yield row(name, CLASSES, _build_network(name), SIDES.get(name, 224))
    yield from _timm_rows()


def architecture_rows(name: str) -> Iterator[CostRow]:
    """The rows of an architecture whose layers have names."""
    side, layers = SIDES.get(name, 224), ARCHITECTURES[name].layers
    for layer, node in layers.items():
        yield row(name, layer, create_feature_extractor(_build_network(name), [node], suppress_diff_warning=True), side)
    yield row(name, CLASSES, _build_network(name), side)


def _build_network(name: str) -> nn.Module:
    """A network on the device meta; a RegNet chooses its widths by computing, which meta cannot."""
    with torch.device("cpu" if name.startswith("regnet") else "meta"):
        return _BUILDERS.get(name, partial(models.get_model, name))().to("meta").eval()


def _timm_rows() -> Iterator[CostRow]:
    import timm  # an extra, which the file has a few networks of

    for name in OF_TIMM:
        with torch.device("meta"):
            module = timm.create_model(name, num_classes=0).eval()
        yield row(f"timm:{name}", "pooled", module, module.default_cfg["input_size"][-1])


if __name__ == "__main__":
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(CostRow._fields)
    writer.writerows(rows())
