#!/usr/bin/env bash
# Guess, written before the run: "Boxes of integers that are resized to one and a half and back are the same, or
# differ by rounding both ways."
# Seen on 2026-11-30: v2.Resize cuts the fraction off each time: (1, 1, 3, 3) of an image of 10 x 10 is (1, 1, 4, 4)
# in 15 x 15 and (0, 0, 2, 2) again in 10 x 10, whose IoU with the first is .14. Boxes of float32 come back. And
# masks_to_boxes gives a box of no area for an object of one pixel, whose IoU with itself is NaN.
# Hurts: who resizes pictures with boxes of integers: each step moves them towards the upper left corner; small
# objects are lost.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check \
  torch==2.15.0 torchvision==0.29.2
cd "$folder"
venv/bin/python - <<'PYTHON'
import torch
import torchvision
from torchvision.ops import box_iou, masks_to_boxes
from torchvision.transforms import v2
from torchvision.tv_tensors import BoundingBoxes

print("torchvision", torchvision.__version__)
box = torch.tensor([[1, 1, 3, 3]])
back = {}
for boxes in (box, box.float()):
    larger = v2.Resize((15, 15))(BoundingBoxes(boxes, format="XYXY", canvas_size=(10, 10)))
    back[boxes.dtype] = torch.Tensor(v2.Resize((10, 10))(larger).float())
overlap = box_iou(box.float(), back[torch.int64]).item()
mask = torch.zeros(1, 10, 10, dtype=torch.bool)
mask[0, 5, 5] = True
pixel = masks_to_boxes(mask)
of_itself = box_iou(pixel.float(), pixel.float()).item()
print(box.tolist(), "is", back, "IoU", round(overlap, 2), "one pixel:", pixel.tolist(), "IoU", of_itself)
assert back[torch.int64].tolist() == [[0, 0, 2, 2]] and back[torch.float32].tolist() == box.tolist()
assert round(overlap, 2) == 0.14 and pixel.tolist() == [[5, 5, 5, 5]] and of_itself != of_itself
PYTHON
