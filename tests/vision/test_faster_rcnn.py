import numpy as np
import pytest
import torch
from torchvision.models.detection import fasterrcnn_resnet50_fpn_v2

from densevse.runtime.errors import InputError
from densevse.vision.architectures.faster_rcnn import FasterRCNN


@pytest.fixture(scope="module")
def weights(tmp_path_factory):
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("detector") / "weights.pth"
    torch.save(fasterrcnn_resnet50_fpn_v2(weights=None, weights_backbone=None, num_classes=91).state_dict(), path)
    return path


def test_the_whole_image_and_the_detectors_own_boxes(weights):
    detector = FasterRCNN(weights, detections=7, nms_threshold=0.5)
    detector.model.transform.min_size = (96,)  # random weights see nothing more in a larger image
    image = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    boxes, described = detector.detect(image)
    assert boxes.shape == (len(described.scores), 4)
    assert 1 < len(boxes) <= 8
    np.testing.assert_allclose(boxes[0], [0, 0, 90, 60], atol=1e-3)
    assert boxes.min() >= 0
    assert ((boxes[:, :2] + boxes[:, 2:]) <= [90.01, 60.01]).all()
    assert described.vectors.shape == (len(boxes), 1024)
    assert np.isfinite(described.vectors).all()
    assert (np.diff(described.scores[1:]) <= 0).all()
    assert (described.classes[1:] > 0).all()


def test_other_weights_are_refused(tmp_path):
    torch.save({"a": torch.zeros(2)}, tmp_path / "other.pth")
    with pytest.raises(InputError, match=r"other\.pth.*expected"):
        FasterRCNN(tmp_path / "other.pth", 19, 0.5)
