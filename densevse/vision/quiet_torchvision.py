"""torchvision's parts, imported so that a process without a GPU does not load Triton.

torchvision imports torch's compiler, which imports Triton where it is installed. Only kernels on a GPU need it, and
Triton 3.9 ends every process that has loaded it with pages of `nanobind: leaked`.
"""

import sys

import torch

_HIDDEN = torch.cuda.device_count() == 0 and "triton" not in sys.modules
if _HIDDEN:
    sys.modules["triton"] = None  # type: ignore[assignment]  # an import fails, as where it is not installed

from torchvision import models, transforms  # noqa: E402
from torchvision.models.detection import fasterrcnn_resnet50_fpn_v2  # noqa: E402
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names  # noqa: E402
from torchvision.ops import roi_align  # noqa: E402

if _HIDDEN:
    del sys.modules["triton"]

__all__ = [
    "create_feature_extractor",
    "fasterrcnn_resnet50_fpn_v2",
    "get_graph_node_names",
    "models",
    "roi_align",
    "transforms",
]
