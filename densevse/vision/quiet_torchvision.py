"""torchvision's parts, imported without torch's compiler, which takes five times as long to import as they do.

One function of torchvision asks the compiler, on a GPU, whether it is supported there. The compiler imports Triton
where it is installed, and Triton 3.9 ends every process that has loaded it with pages of `nanobind: leaked`.
"""

import sys
from importlib import import_module
from types import ModuleType

_COMPILER = "torch._dynamo.utils"


def _is_compile_supported(device_type: str) -> bool:
    return bool(import_module(_COMPILER).is_compile_supported(device_type))


_HIDDEN = _COMPILER not in sys.modules
if _HIDDEN:
    sys.modules[_COMPILER] = ModuleType(_COMPILER)
    sys.modules[_COMPILER].is_compile_supported = _is_compile_supported  # type: ignore[attr-defined]

from torchvision import models, transforms  # noqa: E402
from torchvision.models.detection import fasterrcnn_resnet50_fpn_v2  # noqa: E402
from torchvision.models.feature_extraction import create_feature_extractor, get_graph_node_names  # noqa: E402
from torchvision.ops import roi_align  # noqa: E402

if _HIDDEN:
    del sys.modules[_COMPILER]

__all__ = [
    "create_feature_extractor",
    "fasterrcnn_resnet50_fpn_v2",
    "get_graph_node_names",
    "models",
    "roi_align",
    "transforms",
]
