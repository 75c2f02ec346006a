"""Every variant in half precision: losses are float32, and nothing overflows. Without a GPU a CPU's autocast tries."""

import numpy as np
import pytest
import torch

from densevse.methods.interface import Moment, to_device
from tests.device.chosen import CPU, DEVICE, REAL
from tests.device.test_counts import trainer_of
from tests.device.test_methods import VARIANTS

PLACE = DEVICE if REAL else CPU


def loss_of(trainer, half):
    torch.manual_seed(0)
    batch = to_device(trainer.task.batch(np.arange(12), 1), PLACE)
    trainer.task.module.zero_grad()
    with torch.autocast(PLACE.type, torch.bfloat16, enabled=half):
        loss = trainer.task.loss(batch, Moment(1, "main", trainer.task.parameters))
    loss.backward()
    return loss.detach(), [weight.grad for weight in trainer.weights.values() if weight.grad is not None]


@pytest.mark.parametrize("name", VARIANTS)
def test_the_loss_is_float32_and_near_that_of_float32(made, compute_on, name):
    compute_on(PLACE)
    trainer = trainer_of(made, name, PLACE)
    (loss, gradients), (expected, _) = loss_of(trainer, half=True), loss_of(trainer, half=False)
    assert loss.dtype == torch.float32
    assert all(gradient.dtype == torch.float32 and gradient.isfinite().all() for gradient in gradients)
    torch.testing.assert_close(loss, expected, rtol=0.1, atol=0.1)
