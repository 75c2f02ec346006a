"""Every variant in half precision, tried by a CPU's autocast: losses are float32, and nothing overflows."""

import numpy as np
import pytest
import torch

from densevse.methods.interface import Moment
from tests.device.test_counts import trainer_of
from tests.device.test_methods import CPU, VARIANTS


def loss_of(trainer, half):
    torch.manual_seed(0)
    batch = trainer.task.batch(np.arange(12), 1)
    trainer.task.module.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=half):
        loss = trainer.task.loss(batch, Moment(1, "main", trainer.task.parameters))
    loss.backward()
    return loss.detach(), [weight.grad for weight in trainer.weights.values() if weight.grad is not None]


@pytest.mark.parametrize("name", VARIANTS)
def test_the_loss_is_float32_and_near_that_of_float32(made, compute_on, name):
    compute_on(CPU)
    trainer = trainer_of(made, name, CPU)
    (loss, gradients), (expected, _) = loss_of(trainer, half=True), loss_of(trainer, half=False)
    assert loss.dtype == torch.float32
    assert all(gradient.dtype == torch.float32 and gradient.isfinite().all() for gradient in gradients)
    torch.testing.assert_close(loss, expected, rtol=0.1, atol=0.1)
