"""torchvision's Faster R-CNN as a modern detector, with its own boxes and the vectors that it classifies."""

from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from densevse.artifacts.boxes import Boxes
from densevse.runtime.numerics import device
from densevse.vision.networks import load_network_weights
from densevse.vision.quiet_torchvision import fasterrcnn_resnet50_fpn_v2
from densevse.vision.regions import Described

_CLASSES = 91
"""MS-COCO's category numbers, 80 of which are used; 0 is background."""


class FasterRCNN:
    """Faster R-CNN with a ResNet-50 feature pyramid (Ren et al., NIPS 2015; torchvision's second version of it).

    `weights` is the file of a state dict. At most `detections` are kept for each image, after non-maximum suppression
    within classes at `nms_threshold`.
    """

    def __init__(self, weights: str | Path, detections: int, nms_threshold: float) -> None:
        self.device = device()
        model = load_network_weights(_build(detections, nms_threshold), "faster_rcnn", weights)
        self.model: Any = model.eval().requires_grad_(False).to(self.device)

    @property
    def length(self) -> int:
        """The length of a region's vector."""
        return int(self.model.roi_heads.box_predictor.cls_score.in_features)

    def detect(self, image: NDArray[np.uint8]) -> tuple[Boxes, Described]:
        """The regions of an RGB image (H, W, 3), the whole image first; vectors are the box head's output, 1024-d."""
        model, (height, width) = self.model, image.shape[:2]
        with torch.inference_mode():
            pixels = torch.tensor(image, device=self.device).permute(2, 0, 1) / 255
            resized, _ = model.transform([pixels])
            maps = model.backbone(resized.tensors)
            proposals, _ = model.rpn(resized, maps)
            found = model.roi_heads(maps, proposals, resized.image_sizes)[0]
            whole = torch.tensor([[0.0, 0.0, *resized.image_sizes[0][::-1]]], device=self.device)
            boxes = torch.cat([whole, found[0]["boxes"]])
            vectors = model.roi_heads.box_head(model.roi_heads.box_roi_pool(maps, [boxes], resized.image_sizes))
            corners = model.transform.postprocess([{"boxes": boxes}], resized.image_sizes, [(height, width)])[0][
                "boxes"
            ]
        begin, end = corners[:, :2], corners[:, 2:]
        scores = np.concatenate([[0], found[0]["scores"].cpu().numpy()]).astype(np.float32)
        classes = np.concatenate([[0], found[0]["labels"].cpu().numpy()]).astype(np.int64)
        return torch.cat([begin, end - begin], dim=1).cpu().numpy(), Described(vectors.cpu().numpy(), scores, classes)


detector = FasterRCNN


def _build(detections: int, nms_threshold: float) -> torch.nn.Module:
    model: torch.nn.Module = fasterrcnn_resnet50_fpn_v2(
        weights=None,
        weights_backbone=None,
        num_classes=_CLASSES,
        box_score_thresh=0.0,  # every image gets its number of regions
        box_nms_thresh=nms_threshold,
        box_detections_per_img=detections,
    )
    return model
