"""The networks of R-CNN and Faster R-CNN."""

import numpy as np
import pytest
import torch
from torchvision.models.detection import fasterrcnn_resnet50_fpn_v2

from densevse.config.networks import NetworkSettings
from densevse.vision.architectures.faster_rcnn import FasterRCNN
from densevse.vision.architectures.rcnn import RCNN
from densevse.vision.networks import CLASSES, Network
from snakeproof.errors import InputError

SETTINGS = NetworkSettings(
    architecture="rcnn_ilsvrc13",
    layers={"regions": "fc7"},
    nodes={"fc7": "classifier.relu7"},
    size=227,
    mean=(0.48, 0.46, 0.41),
    std=(1 / 255, 1 / 255, 1 / 255),
    precision="fp32",
)


def test_features_are_fc7_behind_its_rectifier():
    torch.manual_seed(0)
    module = RCNN(hidden=16, classes=5).eval()
    network = Network(SETTINGS, module)
    batch = torch.randint(0, 256, (2, 3, 227, 227), dtype=torch.uint8)
    fc7, scores = network.outputs(batch, ["fc7", CLASSES])
    assert fc7.shape == (2, 16)
    assert scores.shape == (2, 5)
    assert fc7.min() == 0
    mean = 255 * torch.tensor(SETTINGS.mean)[:, None, None]
    with torch.inference_mode():
        expected = module.to("cpu")(batch.float() - mean)
    torch.testing.assert_close(scores.cpu(), expected, rtol=1e-3, atol=1e-3)


def test_normalisation_is_caffes():
    x = torch.rand(1, 8, 3, 3) * 100
    normalised = RCNN(hidden=2, classes=2).features.norm1(x)
    around = [x[0, max(0, c - 2) : c + 3].square().sum(0) for c in range(8)]
    expected = x[0] / (1 + 1e-4 / 5 * torch.stack(around)) ** 0.75
    torch.testing.assert_close(normalised[0], expected)


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
