import torch

from densevse.config.networks import NetworkSettings
from densevse.vision.architectures.rcnn import RCNN
from densevse.vision.networks import CLASSES, Network

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
