#!/usr/bin/env bash
# torchvision says of batched_nms: "NMS will not be applied between elements of different categories."
# Seen on 2026-11-30: it moves each class by its number times the greatest coordinate plus 1. If the greatest
# coordinate is -1, nothing moves, and the box of another class is removed. With a class of 270,000 the sum has steps
# of 16 pixels in float32, and a box whose IoU with a better one is .47 is removed at a threshold of .5.
# Hurts: who moves boxes into a crop before the suppression, or gives it numbers of phrases or images as classes:
# boxes are lost.
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
from torchvision.ops import batched_nms, box_iou

print("torchvision", torchvision.__version__)
scores = torch.tensor([0.9, 0.8, 0.7])
twice = torch.tensor([[10.0, 10, 19, 19], [10, 10, 19, 19]])
kept = [batched_nms(boxes, scores[:2], torch.tensor([0, 1]), 0.5).tolist() for boxes in (twice, twice - 20)]
print("two classes, and the same boxes 20 pixels to the upper left:", kept)
assert kept == [[0, 1], [0]]
boxes = torch.tensor([[10.0, 10, 40, 40], [16, 16, 46, 46], [300, 300, 500, 500]])
overlap = box_iou(boxes[:1], boxes[1:2]).item()
by_class = {number: batched_nms(boxes, scores, torch.full((3,), number), 0.5).tolist() for number in (1, 270_000)}
print("one class, by its number:", by_class, "IoU", round(overlap, 2))
assert round(overlap, 2) == 0.47 and by_class == {1: [0, 1, 2], 270_000: [0, 2]}
PYTHON
