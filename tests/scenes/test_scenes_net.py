import numpy as np
import torch

from densevse.scenes.network import CELLS, ScenesNet, _facts


def test_the_network_has_the_parts_of_a_torchvision_classifier():
    network = ScenesNet(classes=38).eval()
    pixels = torch.randn(2, 3, 64, 64)
    cells = network.features(pixels)
    assert cells.shape == (2, 128, 4, 4)
    assert torch.equal(network(pixels), network.classifier(network.avgpool(cells).flatten(1)))
    feature, logits = network.feature_and_logits(pixels)
    assert feature.shape == (2, 512)
    assert torch.equal(logits, network(pixels))


def test_the_facts_of_a_window():
    """A red ball (attributes 0 and 1) at the top left, a blue box (2 and 3) to the right of it and a little below."""
    where = np.array([[0.1, 0.1], [0.9, 0.3]], np.float32)
    facts = _facts(where, np.array([[1, 1, 0, 0], [0, 0, 1, 1]], np.float32))
    cells = facts[: CELLS * CELLS * 4].reshape(CELLS, CELLS, 4)
    assert np.argwhere(cells).tolist() == [[0, 0, 0], [0, 0, 1], [1, 3, 2], [1, 3, 3]]
    same, left_of, above = facts[CELLS * CELLS * 4 :].reshape(3, 4, 4)
    assert np.argwhere(same).tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 2], [2, 3], [3, 2], [3, 3]]
    assert np.argwhere(left_of).tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
    assert not above.any()
